"""HTTP mode: the address Slack posts to. The signature is slack-bolt's to verify, in `take`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from gateway.errors import ConnectionLost

BODY_BYTES = 1024 * 1024
"""More than any event or interaction has; a larger request is refused unread."""


@asynccontextmanager
async def listening(
    take: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], *, host: str, port: int, path: str
) -> AsyncIterator[int]:
    """Serve while the context is open; yields the port.

    Raises:
        ConnectionLost: the port cannot be had.
    """

    async def handle(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await take(await to_bolt_request(request)))

    app = web.Application(client_max_size=BODY_BYTES)
    app.router.add_post(path, handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConnectionLost(f"cannot listen for Slack on {host}:{port}: {error.strerror}") from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
