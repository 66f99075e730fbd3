"""Finds the memory provider that the configuration names: the built-in one, none, or a package's."""

from collections.abc import Mapping
from importlib.metadata import entry_points

from agent.errors import SettingsError
from agent.memory.builtin import open_memory
from agent.memory.lifecycle import Memory
from agent.memory.provider import FactStore, MemoryNeeds, OpenMemory
from agent.ports import Mask, Who
from agent.tools.registry import Tool

GROUP = "parley.memory_providers"
BUILTIN, NONE = "builtin", "none"


def known_providers() -> frozenset[str]:
    """All names that `memory.provider` may have."""
    return frozenset({BUILTIN, NONE, *(each.name for each in entry_points(group=GROUP))})


def check_provider(name: str) -> None:
    """Refuse a name nobody offers.

    Raises:
        SettingsError: there is none of that name.
    """
    known = known_providers()
    if name not in known:
        raise SettingsError(f"memory.provider: there is no {name!r}; known: {', '.join(sorted(known))}")


def load_memory(name: str, settings: Mapping[str, object], facts: FactStore | None, *, mask: Mask) -> Memory:
    """The memory of that name; without a place for facts there is none.

    A package that cannot be loaded is a provider that is not available: it is skipped, and says why.
    """
    if name == NONE or facts is None:
        return Memory()
    if name == BUILTIN:
        return Memory([(name, open_memory(MemoryNeeds(settings=settings, facts=facts)))], mask=mask)
    (point,) = entry_points(group=GROUP, name=name)
    try:
        opener: OpenMemory = point.load()
        provider = opener(MemoryNeeds(settings=settings, facts=facts))
    except Exception as error:  # noqa: BLE001 - foreign code, at import: no reason for the daemon not to start
        provider = _Missing(f"{type(error).__name__}: {error}")
    return Memory([(name, provider)], mask=mask)


class _Missing:
    """Stands for a provider that could not even be made."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def why_not(self) -> str:
        return self._reason

    async def initialize(self, who: Who) -> None: ...

    def tools(self) -> tuple[Tool, ...]:
        return ()

    async def prompt_block(self, who: Who) -> str:  # noqa: ARG002 - the protocol's
        return ""

    async def prefetch(self, who: Who, question: str) -> str:  # noqa: ARG002 - the protocol's
        return ""

    async def on_turn_start(self, who: Who, question: str) -> None: ...

    async def sync_turn(self, who: Who, question: str, answer: str) -> None: ...

    async def on_session_end(self, who: Who) -> None: ...

    async def shutdown(self) -> None: ...
