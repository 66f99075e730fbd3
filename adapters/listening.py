"""The small HTTP server of those adapters to which a platform posts what comes in.

One place for its bounds: the size of a body, the time it may take, no reading at all for those who may not post.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from gateway.errors import ConnectionLost

BODY_BYTES = 1024 * 1024
"""More than any update of a platform has; a larger request is answered with 413."""

BODY_S = 10.0
"""In which a body must have come; platforms give up on an answer sooner than that."""

_CLOSING_S = 1.0  # for requests under way at the end; the platform repeats what got no answer

Admits = Callable[[web.Request], bool]
"""Whether a request may be read, by its headers alone."""


@asynccontextmanager
async def listening(
    handle: Callable[[web.Request], Awaitable[web.Response]],
    *,
    host: str,
    port: int,
    path: str,
    admits: Admits = lambda _: True,
) -> AsyncIterator[int]:
    """Serve posts to `path` while the context is open; yields the port, which differs from a `port` of 0.

    `handle` gets requests whose body has come; what it does not admit is answered with 401, unread.

    Raises:
        ConnectionLost: the port cannot be had.
    """

    async def take(request: web.Request) -> web.Response:
        if not admits(request):
            return web.Response(status=401)
        try:
            async with asyncio.timeout(BODY_S):
                await request.read()
        except TimeoutError:
            return web.Response(status=408)
        return await handle(request)

    app = web.Application(client_max_size=BODY_BYTES)
    app.router.add_post(path, take)
    # Nothing lingers: what is left of a refused body is not read.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_S, lingering_time=0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConnectionLost(f"cannot listen on {host}:{port}: {error.strerror}") from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
