"""Providers through their life, and between them and the turns: bounded calls, and a rest for who keeps failing.

    loaded ──is it available?──▶ skipped            (with its reason, for `doctor` and `/status`)
       └──────── yes ──────────▶ added ──first turn of a session: initialize──▶ ready ──▶ … ──▶ stopped

A turn never fails for its memory's sake: what is too slow or broken is left out, and said to the operator.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeVar

import structlog

from agent.cooldown import Cooldown
from agent.memory.provider import MemoryProvider
from agent.ports import Mask, Who
from agent.tools.registry import Tool, ToolCallContext, ToolResult

_log = structlog.get_logger()
T = TypeVar("T")

Status = Literal["loaded", "skipped", "added", "ready", "stopped"]
Event = Literal["available", "unavailable", "initialized", "shut_down"]

TABLE: Mapping[tuple[Status, Event], Status] = {
    ("loaded", "available"): "added",
    ("loaded", "unavailable"): "skipped",
    ("added", "initialized"): "ready",
    ("added", "shut_down"): "stopped",
    ("ready", "initialized"): "ready",
    ("ready", "shut_down"): "stopped",
}
"""The life of a provider; whatever is not here cannot happen to it."""

IN_TURN_S = 2.0
IN_BACKGROUND_S = 30.0
SESSIONS_KEPT = 1_000
WAITING_KEPT = 1_000
_REASON_LENGTH = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """How a provider is doing; `trouble` says why it is skipped or what failed last, and is empty while all is well."""

    name: str
    status: Status
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What memory brings into a turn: what the system prompt always says of the person, and what fits the question."""

    block: str = ""
    found: str = ""


class _Keeper:
    """One provider: where it is in its life, and its calls, bounded."""

    def __init__(self, name: str, provider: MemoryProvider, mask: Mask) -> None:
        self.provider = provider
        self._mask = mask
        self.state = MemoryState(name=name, status="loaded")
        self._cooldown = Cooldown(first_s=5.0, longest_s=300.0)
        self._sessions: OrderedDict[Who, None] = OrderedDict()
        why_not = self._now(provider.why_not)
        reason = self.state.trouble if why_not is None else mask(why_not)[:_REASON_LENGTH]
        self._moves("unavailable" if reason else "available", reason)
        if reason:
            _log.warning("memory.skipped", provider=name, reason=reason)

    @property
    def is_usable(self) -> bool:
        return self.state.status in {"added", "ready"} and not self._cooldown.is_cooling

    def tools(self) -> tuple[Tool, ...]:
        if self.state.status not in {"added", "ready"}:
            return ()
        return tuple(map(self._routed, self._now(self.provider.tools) or ()))

    async def call(self, who: Who, work: Callable[[], Awaitable[T]], bound_s: float) -> T | None:
        """One call about a session, which is initialised before; None if it failed or was too slow."""
        if not self.is_usable:
            return None
        try:
            async with asyncio.timeout(bound_s):
                if who not in self._sessions:
                    await self.provider.initialize(who)
                    self._is_ready_for(who)
                result = await work()
        except TimeoutError:
            self._failed(f"no answer within {bound_s:g} s")
            return None
        except Exception as error:  # noqa: BLE001 - a provider is foreign code: whatever it raises is its failure
            self._failed(f"{type(error).__name__}: {error}")
            return None
        self._cooldown.succeeded()
        self.state = replace(self.state, trouble="")
        return result

    async def stop(self) -> None:
        if (self.state.status, "shut_down") not in TABLE:
            return
        try:
            async with asyncio.timeout(IN_TURN_S):
                await self.provider.shutdown()
        except Exception as error:  # noqa: BLE001 - as above; the process ends all the same
            _log.warning("memory.shutdown_failed", provider=self.state.name, reason=type(error).__name__)
        self._moves("shut_down")

    def _routed(self, tool: Tool) -> Tool:
        """The tool, with the provider's session begun before it and its failures counted."""

        async def run(args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
            who = context.who
            if who is None:
                return await tool.run(args, context)
            result = await self.call(who, lambda: tool.run(args, context), IN_BACKGROUND_S)
            if result is None:
                text = (
                    f"The memory {self.state.name} is not available: {self.state.trouble or 'it is resting'}."
                )
                return ToolResult(text=text, is_error=True)
            return result

        return replace(tool, run=run)

    def _is_ready_for(self, who: Who) -> None:
        self._sessions[who] = None
        if len(self._sessions) > SESSIONS_KEPT:
            self._sessions.popitem(last=False)
        self._moves("initialized")

    def _now(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - as in `call`
            self._failed(f"{type(error).__name__}: {error}")
            return None

    def _failed(self, reason: str) -> None:
        self._cooldown.failed()
        self.state = replace(self.state, trouble=self._mask(reason)[:_REASON_LENGTH])
        _log.warning("memory.failed", provider=self.state.name, reason=self.state.trouble)

    def _moves(self, event: Event, trouble: str = "") -> None:
        self.state = replace(self.state, status=TABLE[self.state.status, event], trouble=trouble)


class Memory:
    """All providers together, as turns and the daemon see them.

    Args:
        providers: By name, in the order in which their words stand in the prompt.
    """

    def __init__(self, providers: Iterable[tuple[str, MemoryProvider]] = (), *, mask: Mask = str) -> None:
        self._keepers = tuple(_Keeper(name, provider, mask) for name, provider in providers)
        self._later: asyncio.Queue[tuple[Who, Callable[[MemoryProvider], Awaitable[None]]]] = asyncio.Queue(
            WAITING_KEPT
        )
        self.tools: tuple[Tool, ...] = tuple(tool for keeper in self._keepers for tool in keeper.tools())

    @property
    def states(self) -> tuple[MemoryState, ...]:
        """How each provider is doing."""
        return tuple(keeper.state for keeper in self._keepers)

    async def run(self) -> None:
        """Do what turns left to do, until cancelled; then shut the providers down."""
        try:
            while True:
                who, work = await self._later.get()
                for keeper in self._keepers:
                    await keeper.call(who, partial(work, keeper.provider), IN_BACKGROUND_S)
        finally:
            for keeper in self._keepers:
                await keeper.stop()

    async def begin_turn(self, who: Who, question: str) -> Recalled:
        """A turn begins, or goes on: what memory has to say to it. Takes at most `IN_TURN_S` for all providers."""
        parts = await asyncio.gather(*(self._begin_with(keeper, who, question) for keeper in self._keepers))
        return Recalled(
            block="\n\n".join(part.block for part in parts if part.block),
            found="\n\n".join(part.found for part in parts if part.found),
        )

    def turn_ended(self, who: Who, question: str, answer: str) -> None:
        """A turn has ended, and all of it is stored; returns at once."""
        self._do_later(who, lambda provider: provider.sync_turn(who, question, answer))

    def session_ended(self, who: Who) -> None:
        """A conversation was reset; returns at once."""
        self._do_later(who, lambda provider: provider.on_session_end(who))

    async def _begin_with(self, keeper: _Keeper, who: Who, question: str) -> Recalled:
        provider = keeper.provider

        async def work() -> Recalled:
            await provider.on_turn_start(who, question)
            return Recalled(
                block=await provider.prompt_block(who), found=await provider.prefetch(who, question)
            )

        return await keeper.call(who, work, IN_TURN_S) or Recalled()

    def _do_later(self, who: Who, work: Callable[[MemoryProvider], Awaitable[None]]) -> None:
        if not self._keepers:
            return
        try:
            self._later.put_nowait((who, work))
        except asyncio.QueueFull:
            # A provider that is this far behind has had its warnings already.
            _log.warning("memory.left_out", waiting=WAITING_KEPT)
