"""HTTP mode: signed requests to the app's own address, three seconds for its answer.

Rules: https://docs.slack.dev/authentication/verifying-requests-from-slack and /apis/events-api (2026).
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession, ClientTimeout

from .deliveries import Delivery
from .world import Account, World

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def sign(secret: str, timestamp: int, body: str) -> str:
    """The `v0` signature of a request body."""
    digest = hmac.new(secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256)
    return f"v0={digest.hexdigest()}"


class Webhook:
    """Carries one app's deliveries to its request URL."""

    is_leaving = False

    def __init__(self, world: World, account: Account) -> None:
        self._world, self._account = world, account
        self._session = ClientSession()
        self._posts: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop; what is under way stays unacknowledged."""
        for post in list(self._posts):
            post.cancel()
        await asyncio.gather(*self._posts, return_exceptions=True)
        await self._session.close()

    def carry(self, delivery: Delivery) -> None:
        """Post an envelope's content."""
        delivery.stop_timer()  # the request has its own
        task = asyncio.create_task(self._post(delivery))
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)

    async def verify(self) -> None:
        """Ask the address to prove itself, as when it is entered in the app's settings.

        Raises:
            ValueError: It did not answer with the challenge.
        """
        body = json.dumps({"token": "deprecated", "challenge": "3eZbrw1a", "type": "url_verification"})
        status, text = await self.post(body, JSON, {})
        if status != 200 or "3eZbrw1a" not in text:
            raise ValueError(f"the request URL answered {status}: {text[:200]}")

    async def post(
        self, body: str, content_type: str, headers: Mapping[str, str], secret: str | None = None
    ) -> tuple[int, str]:
        """Post anything, signed (with another secret, if given); the answer's status and text."""
        timestamp = self._world.now()
        signature = sign(secret or self._account.signing_secret, timestamp, body)
        signed = {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": str(timestamp),
            "X-Slack-Signature": signature,
            **headers,
        }
        timeout = ClientTimeout(total=self._account.deliveries.ack_timeout_s)
        async with self._session.post(
            self._account.request_url, data=body, headers=signed, timeout=timeout
        ) as answer:
            return answer.status, await answer.text()

    async def _post(self, delivery: Delivery) -> None:
        deliveries = self._account.deliveries
        body, content_type = _body(delivery)
        headers = {}
        if delivery.attempts > 1:
            headers = {
                "X-Slack-Retry-Num": str(delivery.attempts - 1),
                "X-Slack-Retry-Reason": delivery.reason,
            }
        try:
            status, text = await self.post(body, content_type, headers)
        except TimeoutError:
            deliveries.failed(delivery, "http_timeout")
        except (ClientError, OSError):
            deliveries.failed(delivery, "connection_failed")
        else:
            if 200 <= status < 300:
                deliveries.acknowledge(delivery.envelope_id, text or None)
            else:
                deliveries.failed(delivery, "http_error")


def _body(delivery: Delivery) -> tuple[str, str]:
    payload: dict[str, Any] = delivery.payload
    match delivery.kind:
        case "events_api":
            return json.dumps(payload), JSON
        case "interactive":
            return urlencode({"payload": json.dumps(payload)}), FORM
        case "slash_commands":
            return urlencode(payload), FORM
