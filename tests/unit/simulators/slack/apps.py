"""Apps of the real slack-bolt and slack_sdk, as simple as can be."""

import asyncio
from contextlib import asynccontextmanager

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient


def make_client(sim, token=None):
    return AsyncWebClient(token=token or sim.token, base_url=sim.api_url, retry_handlers=[])


def make_app(sim, take):
    """An app whose only middleware is `take(body)`: what it returns is the answer's status."""
    app = AsyncApp(
        client=make_client(sim),
        signing_secret=sim.account.signing_secret,
        ignoring_self_events_enabled=False,
    )

    async def middleware(body):
        return BoltResponse(status=await take(body))

    app.middleware(middleware)
    return app


@asynccontextmanager
async def bolt(sim, take):
    """Such an app on a socket."""
    app = make_app(sim, take)
    handler = AsyncSocketModeHandler(app, sim.app_token)
    await handler.connect_async()
    try:
        yield app
    finally:
        await handler.close_async()
        await asyncio.gather(handler.client.message_processor, return_exceptions=True)


class Taken(list):
    """Bodies in the order they came; the next `refuse` of them are not acknowledged."""

    def __init__(self, sim):
        super().__init__()
        self.sim = sim
        self.refuse = 0

    async def __call__(self, body):
        self.append(body)
        self.sim.changes.notify()
        if self.refuse:
            self.refuse -= 1
            return 500
        return 200

    def texts(self):
        return [body["event"]["text"] for body in self]
