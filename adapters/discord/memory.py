"""What an adapter knows of its account beyond one connection."""

from collections import OrderedDict
from typing import Generic, TypeVar

from adapters.discord.backfill import Marks
from adapters.discord.client import GatewaySession
from adapters.discord.parse import Identity
from adapters.discord.places import Places
from gateway.source import SessionSource

REMEMBERED = 1_000

V = TypeVar("V")


class Recent(Generic[V]):
    """At most `size` entries."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[str, V] = OrderedDict()

    def __setitem__(self, key: str, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def get(self, key: str) -> V | None:
        """The value, if it is still remembered."""
        return self._entries.get(key)


class Memory:
    """What an adapter knows of its account beyond one connection."""

    def __init__(self, account: str) -> None:
        self.account = account
        self.places = Places(account)
        self.marks = Marks()
        self.session: GatewaySession | None = None  # to be taken up by the next connection
        self.stored_seq = 0  # the last event of the present session that needs no repetition
        self.has_commands = False
        self.echoes: Recent[str] = Recent(REMEMBERED)  # nonce → our own message that came back with it
        self.sources: Recent[SessionSource] = Recent(REMEMBERED)  # message → who wrote it

    @property
    def identity(self) -> Identity:
        """Who the bot is."""
        return Identity(id=self.account, roles=self.places.bot_roles)
