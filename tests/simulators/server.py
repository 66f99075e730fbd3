"""A simulator's HTTP server on loopback.

Started on a free port, stopped at once, able to cut a connection.
"""

from typing import Self

from aiohttp import web

REQUEST_LIMIT_BYTES = (
    64 * 1024 * 1024
)  # above the 50 MB a bot may upload, so that the simulator itself refuses


def make_app(routes: list[web.RouteDef]) -> web.Application:
    """Put an application together from the simulator's routes."""
    app = web.Application(client_max_size=REQUEST_LIMIT_BYTES)
    app.add_routes(routes)
    return app


def cut(request: web.Request) -> web.Response:
    """Close the client's connection without an answer; return what this returns from the handler."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


class LoopbackServer:
    """Serves one application while the context is open."""

    def __init__(self, app: web.Application, host: str = "127.0.0.1", port: int = 0) -> None:
        self._app, self._host, self._port = app, host, port
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """`http://host:port`, without a slash at the end. Only while running."""
        assert self._runner is not None, "not started"
        return f"http://{self._host}:{self._runner.addresses[0][1]}"

    async def start(self) -> Self:
        """Listen; with port 0 on one the system chooses. Stays on that port when started again."""
        # A client that hangs up ends its handler, as a long poll must not outlive its connection.
        self._runner = web.AppRunner(
            self._app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def stop(self) -> None:
        """Close the port and all connections."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
