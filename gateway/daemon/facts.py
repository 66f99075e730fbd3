"""The agent's `FactStore` on the gateway's database."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.memory.provider import Fact
from gateway.clock import Clock, to_ms, utc_now
from gateway.store import memory
from gateway.store.memory import StoredFact
from gateway.store.tx import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFacts:
    """See the module."""

    database: Store
    clock: Clock = utc_now

    async def add(self, user: str, text: str, *, source: str) -> bool:
        """Keep a fact; False if it is known already."""
        now_ms = to_ms(self.clock())
        return await self.database.write(lambda tx: memory.add(tx, user, text, source=source, now_ms=now_ms))

    async def search(self, user: str, words: str, most: int) -> Sequence[Fact]:
        """The facts that fit these words, the best first."""
        return _facts(await self.database.read(lambda tx: memory.search(tx, user, words, most)))

    async def newest(self, user: str, most: int) -> Sequence[Fact]:
        """The newest facts, the newest first."""
        return _facts(await self.database.read(lambda tx: memory.newest(tx, user, most)))

    async def remove(self, user: str, numbers: Sequence[int]) -> int:
        """Forget facts for good; how many there were."""
        return await self.database.write(lambda tx: memory.remove(tx, user, numbers))


def _facts(stored: Sequence[StoredFact]) -> list[Fact]:
    return [Fact(id=fact.id, text=fact.text) for fact in stored]


class NoFacts:
    """A `FactStore` in which nothing is kept, for whoever only looks whether a memory could be used."""

    async def add(self, user: str, text: str, *, source: str) -> bool:
        """Nothing is kept."""
        del user, text, source
        return False

    async def search(self, user: str, words: str, most: int) -> Sequence[Fact]:
        """Nothing is known."""
        del user, words, most
        return ()

    async def newest(self, user: str, most: int) -> Sequence[Fact]:
        """Nothing is known."""
        del user, most
        return ()

    async def remove(self, user: str, numbers: Sequence[int]) -> int:
        """Nothing is known."""
        del user, numbers
        return 0
