"""The forms of one MCP server: each is asked in the chat whose call brought it up, or nowhere.

A server of the newest protocol hands its form back as the call's own answer, so the call is known. One of the older
protocol asks over the connection, without saying for whom: if more than one call runs, it is not asked at all, for a
question must not reach another person's chat.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import structlog

from agent.questions import Question, Reply
from agent.tools.elicitation import fields_of, fill

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext
    from mcp_types import ElicitRequestParams, ElicitResult

_log = structlog.get_logger()

AskUser = Callable[[Question], Awaitable[Reply]]

_own: ContextVar[AskUser | None] = ContextVar("own", default=None)


class Forms:
    """See the module.

    Args:
        server: The server's name, which is said with each question.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._calls: dict[object, AskUser | None] = {}

    @contextmanager
    def during(self, ask: AskUser | None) -> Iterator[None]:
        """While a call runs: forms that come now may be its own. None: nobody can be asked."""
        key, before = object(), _own.set(ask)
        self._calls[key] = ask
        try:
            yield
        finally:
            del self._calls[key]
            _own.reset(before)

    async def answer(self, context: "ClientRequestContext", params: "ElicitRequestParams") -> "ElicitResult":
        """Have a form filled in; the client library's callback."""
        del context  # it names the connection, never the call
        from mcp_types import ElicitRequestFormParams, ElicitResult

        ask = _own.get() or (next(iter(self._calls.values())) if len(self._calls) == 1 else None)
        if ask is None:
            _log.warning("mcp.form_not_asked", server=self._server, calls=len(self._calls))
            return ElicitResult(action="cancel")
        if not isinstance(params, ElicitRequestFormParams):
            _log.warning("mcp.form_not_asked", server=self._server, mode=params.mode)
            return ElicitResult(action="decline")
        try:
            fields = fields_of(params.message, params.requested_schema, server=self._server)
        except (ValueError, TypeError, KeyError, AttributeError) as error:  # a foreign schema may be anything
            _log.warning("mcp.form_not_asked", server=self._server, reason=str(error))
            return ElicitResult(action="decline")
        action, values = await fill(fields, ask)
        return ElicitResult(action=action, content=values if action == "accept" else None)
