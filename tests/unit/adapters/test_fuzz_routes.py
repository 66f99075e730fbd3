"""Malformed posts to the adapters' own HTTP routes, signed and unsigned: never a 500, and the next right one is taken.

The server, its platform's simulator and the vendor's library run in a thread of their own. A few dozen posts by
default; PARLEY_FUZZ=100000 tries as many for each route.
"""

import asyncio
import hashlib
import hmac
import http.client
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.telegram.webhook import SECRET_HEADER, secret_token
from tests.contract.stages.base import RecordingInbox, Running
from tests.contract.stages.slack import SlackHttpStage
from tests.contract.stages.telegram import TelegramWebhookStage
from tests.unit.adapters.test_fuzz import (
    SLACK,
    SLACK_COMMANDS,
    SLACK_PRESSES,
    TELEGRAM,
    anything,
    malformed,
)

pytestmark = pytest.mark.req("ACC-4", "ADP-2", "ADP-4")

EXAMPLES = int(os.environ.get("PARLEY_FUZZ", "25"))
REFUSED_UNREAD = {401, 403}

T = TypeVar("T")


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result(30)

    def call(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        self.call(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route: how a post is signed, and what is heard behind it."""

    name: str
    port: int
    path: str
    sign: Callable[[bytes], Mapping[str, str]]
    stage: Any
    inbox: RecordingInbox
    loop: Loop

    def post(self, body: bytes, headers: Mapping[str, str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", self.path, body, dict(headers))
            return connection.getresponse().status
        finally:
            connection.close()


def _telegram_secret(token: str) -> Callable[[bytes], Mapping[str, str]]:
    return lambda _body: {SECRET_HEADER: secret_token(token)}


def _slack_signature(secret: str) -> Callable[[bytes], Mapping[str, str]]:
    def sign(body: bytes) -> Mapping[str, str]:
        now = str(int(time.time()))
        mac = hmac.new(secret.encode(), b":".join([b"v0", now.encode(), body]), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": now, "X-Slack-Signature": f"v0={mac}"}

    return sign


@pytest.fixture(scope="module", params=["telegram", "slack"])
def route(request: pytest.FixtureRequest) -> Iterator[Route]:
    loop = Loop()
    stage: Any = TelegramWebhookStage() if request.param == "telegram" else SlackHttpStage()
    loop.run(stage.__aenter__())
    inbox = RecordingInbox()
    running = Running(stage.adapter, inbox)
    loop.run(running.start())
    if request.param == "telegram":
        path, sign = "/telegram", _telegram_secret(stage.sim.token)
    else:
        path, sign = "/slack/events", _slack_signature(stage.sim.account.signing_secret)
    yield Route(
        name=request.param, port=stage._port, path=path, sign=sign, stage=stage, inbox=inbox, loop=loop
    )
    loop.run(running.stop())
    with suppress(AssertionError):  # the adapter asked for people and chats that do not exist
        loop.run(stage.__aexit__(None, None, None))
    loop.close()


def bodies(name: str) -> st.SearchStrategy[tuple[bytes, str]]:
    """What is posted, with its content type."""
    as_json = "application/json"
    if name == "telegram":
        updates = malformed(TELEGRAM).map(_json)
    else:
        updates = st.one_of(
            malformed(tuple({"type": "event_callback", **each} for each in SLACK)).map(_json),
            malformed(SLACK_PRESSES).map(_form),
            malformed(SLACK_COMMANDS).map(_fields),
        )
    kinds = st.sampled_from([as_json, "text/plain", "application/x-www-form-urlencoded", ""])
    contents = st.one_of(st.binary(max_size=200), st.just(b"[" * 100_000), st.just(b'{"a":' * 100_000))
    return st.one_of(updates, anything.map(_json), st.tuples(contents, kinds))


false_signatures = st.sampled_from(
    [
        {},
        {"X-Slack-Request-Timestamp": "soon", "X-Slack-Signature": "v0=0"},
        {"X-Slack-Request-Timestamp": "9" * 5_000, "X-Slack-Signature": "v0=0"},
        {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=\xff"},
        {SECRET_HEADER: "wrong"},
        {SECRET_HEADER: "\xff"},
    ]
)


def _json(value: Any) -> tuple[bytes, str]:
    return json.dumps(value).encode(), "application/json"


def _form(value: Any) -> tuple[bytes, str]:
    return urlencode({"payload": json.dumps(value)}).encode(), "application/x-www-form-urlencoded"


def _fields(value: Any) -> tuple[bytes, str]:
    if not isinstance(value, dict):
        return _form(value)
    fields = {key: each if isinstance(each, str) else json.dumps(each) for key, each in value.items()}
    return urlencode(fields, errors="replace").encode(), "application/x-www-form-urlencoded"


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_post_breaks_a_route_and_an_unsigned_one_is_not_read(route: Route, data: st.DataObject) -> None:
    body, kind = data.draw(bodies(route.name))
    headers = {"Content-Type": kind} if kind else {}

    assert route.post(body, {**headers, **data.draw(false_signatures)}) in REFUSED_UNREAD
    assert route.post(body, {**headers, **route.sign(body)}) != 500


@pytest.mark.parametrize(
    "body", [b"null", b'{"callback_query": [], "update_id": 1}', b'{"callback_query": {}}']
)
def test_what_once_broke_a_route_is_answered(route: Route, body: bytes) -> None:
    """A body that is no object raised out of slack-bolt unsigned; a press without an id ended Telegram's adapter."""
    kind = {"Content-Type": "application/json"}
    assert route.post(body, kind) in REFUSED_UNREAD
    assert route.post(body, {**kind, **route.sign(body)}) in {200, 400}


def test_after_all_that_a_right_one_is_taken(route: Route) -> None:
    route.loop.call(lambda: route.stage.say("still there?"))
    assert route.loop.run(route.inbox.wait_message("still there?"))
