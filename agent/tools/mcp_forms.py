"""The forms of one MCP server: each is asked in the chat whose call brought it up, or nowhere.

A server of the newest protocol hands its form back as the call's own answer, so the call is known. One of the older
protocol asks over the connection, without saying for whom: if more than one call runs, it is not asked at all, for a
question must not reach another person's chat. Nor is it after a call ended without a result, until the next connection:
the server may work on, and ask for that call while another is the only one that runs. Over the connection means in a
task of the connection's, too: what is still asked when the call ends is called off here.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import structlog

from agent.questions import Question, Reply, Silent
from agent.tools.elicitation import fields_of, fill

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext
    from mcp_types import ElicitRequestParams, ElicitResult

_log = structlog.get_logger()

AskUser = Callable[[Question], Coroutine[object, object, Reply]]


class _Call:
    """A call that runs, and what is asked for it at the moment."""

    def __init__(self, ask: AskUser | None) -> None:
        self._ask = ask
        self._asking: set[asyncio.Task[Reply]] = set()

    async def ask(self, question: Question) -> Reply:
        if self._ask is None:
            return Silent()
        asking = asyncio.create_task(self._ask(question))
        self._asking.add(asking)
        try:
            await asyncio.wait([asking])
            return Silent() if asking.cancelled() else asking.result()
        finally:
            asking.cancel()
            self._asking.discard(asking)

    async def end(self) -> None:
        for asking in self._asking:
            asking.cancel()
        if self._asking:
            await asyncio.wait(self._asking)


_own: ContextVar[_Call | None] = ContextVar("own", default=None)


class Forms:
    """See the module.

    Args:
        server: The server's name, which is said with each question.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._calls: set[_Call] = set()
        self._is_unsure = False

    def connected_anew(self) -> None:
        """No call from before can ask over this connection."""
        self._is_unsure = False

    @asynccontextmanager
    async def during(self, ask: AskUser | None) -> AsyncIterator[None]:
        """While a call runs: forms that come now may be its own. None: nobody can be asked."""
        call = _Call(ask)
        before = _own.set(call)
        self._calls.add(call)
        try:
            yield
        except BaseException:
            # Stopped, timed out or failed on the way (a proxy's error looks like the server's): it may still work on.
            self._is_unsure = True
            raise
        finally:
            self._calls.discard(call)
            _own.reset(before)
            await call.end()

    async def answer(self, context: "ClientRequestContext", params: "ElicitRequestParams") -> "ElicitResult":
        """Have a form filled in; the client library's callback."""
        del context  # it names the connection, never the call
        from mcp_types import ElicitRequestFormParams, ElicitResult

        call = _own.get() or self._only_call()
        if call is None:
            _log.warning(
                "mcp.form_not_asked",
                server=self._server,
                calls=len(self._calls),
                is_unsure=self._is_unsure,
            )
            return ElicitResult(action="cancel")
        if not isinstance(params, ElicitRequestFormParams):
            _log.warning("mcp.form_not_asked", server=self._server, mode=params.mode)
            return ElicitResult(action="decline")
        try:
            fields = fields_of(params.message, params.requested_schema, server=self._server)
        except (ValueError, TypeError, KeyError, AttributeError) as error:  # a foreign schema may be anything
            _log.warning("mcp.form_not_asked", server=self._server, reason=str(error))
            return ElicitResult(action="decline")
        action, values = await fill(fields, call.ask)
        return ElicitResult(action=action, content=values if action == "accept" else None)

    def _only_call(self) -> _Call | None:
        """The call a form of the connection must be for, if that is beyond doubt."""
        return next(iter(self._calls)) if len(self._calls) == 1 and not self._is_unsure else None
