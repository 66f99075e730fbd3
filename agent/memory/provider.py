"""The border to a memory: what a provider is asked, and what the built-in one needs to store facts.

A provider is one object for all people. Each call names for whom it is made; what it gives back goes into that person's
turn and nowhere else, so a provider must keep people apart by `Who.user`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.ports import Who
from agent.tools.registry import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing to remember; `id` is the store's."""

    id: int
    text: str


class FactStore(Protocol):
    """Where the built-in provider keeps facts; every call is about one person (platform:user) alone."""

    async def add(self, user: str, text: str, *, source: str) -> bool:
        """Keep a fact; False if it is known already."""
        ...

    async def search(self, user: str, words: str, most: int) -> Sequence[Fact]:
        """The facts that fit these words, the best first."""
        ...

    async def newest(self, user: str, most: int) -> Sequence[Fact]:
        """The newest facts, the newest first."""
        ...

    async def remove(self, user: str, numbers: Sequence[int]) -> int:
        """Forget facts for good; how many there were."""
        ...


class MemoryProvider(Protocol):
    """Somebody who remembers. All of it is bounded from outside: slow or failing calls are given up and skipped.

    Life: made → `why_not` → `initialize` for each session and person → the calls of turns, again and again →
    `shutdown`. Third parties offer a maker (`OpenMemory`) under the entry-point group `parley.memory_providers`.
    """

    def why_not(self) -> str:
        """Why it cannot be used here (a key is missing), for the operator; empty if it can. No network."""
        ...

    async def initialize(self, who: Who) -> None:
        """Get ready for a person's session; comes before any other call about it in this process."""
        ...

    def tools(self) -> Sequence[Tool]:
        """Its tools; each is told in its call's context for whom it runs."""
        ...

    async def prompt_block(self, who: Who) -> str:
        """What the system prompt always says of this person; empty for nothing."""
        ...

    async def prefetch(self, who: Who, question: str) -> str:
        """What is remembered that fits the question; empty for nothing."""
        ...

    async def on_turn_start(self, who: Who, question: str) -> None:
        """A turn begins."""
        ...

    async def sync_turn(self, who: Who, question: str, answer: str) -> None:
        """A turn has ended, its answer is stored; runs in the background."""
        ...

    async def on_session_end(self, who: Who) -> None:
        """The conversation is over (a reset); the provider stays ready."""
        ...

    async def shutdown(self) -> None:
        """The process ends."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNeeds:
    """What a maker may use: its own settings from the configuration, and a place to store facts."""

    settings: Mapping[str, object]
    facts: FactStore


OpenMemory = Callable[[MemoryNeeds], MemoryProvider]
"""Makes a provider; raises only for settings that cannot be meant."""
