"""Where messages stand: what the gateway's events say of channels, and a place for each (pure but for `Places`).

https://docs.discord.com/developers/resources/channel (10, read 2026). Stated rules:
- A direct channel is a dm; every channel of a guild is a group, whatever its type.
- A thread's chat is its parent channel; posts of a forum are threads. A thread the bot opened is its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.source import ChatKind

Json = Mapping[str, Any]

DIRECT = frozenset({1, 3})
_THREADS = frozenset({10, 11, 12})
_CATEGORY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A channel as messages name it; `last_message_id` is the newest one when it was told of, 0 if unknown."""

    kind: ChatKind
    chat_id: str
    thread_id: str | None = None
    name: str = ""
    is_own: bool = False
    last_message_id: int = 0

    @property
    def channel_id(self) -> str:
        """The channel that messages are sent to."""
        return self.thread_id or self.chat_id


def direct_place(channel_id: str) -> Place:
    """The place of a direct channel, of which nothing but the id is told."""
    return Place(kind="dm", chat_id=channel_id)


def parse_channel(raw: Json, bot_id: str) -> Place:
    """A channel object, also a partial one.

    Raises:
        KeyError, TypeError, ValueError: it is not what the API describes.
    """
    channel_id = str(raw["id"])
    last = int(raw.get("last_message_id") or 0)
    name = str(raw.get("name") or "")
    if raw["type"] in DIRECT:
        return Place(kind="dm", chat_id=channel_id, last_message_id=last)
    if raw["type"] in _THREADS:
        return Place(
            kind="thread",
            chat_id=str(raw["parent_id"]),
            thread_id=channel_id,
            name=name,
            is_own=str(raw.get("owner_id")) == bot_id,
            last_message_id=last,
        )
    return Place(kind="group", chat_id=channel_id, name=name, last_message_id=last)


class Places:
    """The channels a bot can see, kept by the gateway's events over all connections of one account."""

    def __init__(self, bot_id: str) -> None:
        self._bot_id = bot_id
        self._by_id: dict[str, Place] = {}
        self._bot_roles: dict[str, str] = {}  # guild → the role every bot has to itself there

    def __iter__(self) -> Iterator[Place]:
        """All known channels and threads of guilds."""
        return iter(self._by_id.values())

    @property
    def bot_roles(self) -> frozenset[str]:
        """The roles that are the bot's alone: naming one is naming the bot."""
        return frozenset(self._bot_roles.values())

    def get(self, channel_id: str) -> Place | None:
        """A known channel."""
        return self._by_id.get(channel_id)

    def add(self, raw: Json) -> Place:
        """Take note of a channel or thread."""
        place = parse_channel(raw, self._bot_id)
        self._by_id[place.channel_id] = place
        return place

    def take(self, event: str, raw: Json) -> None:
        """Take note of what an event says about channels, if anything.

        Raises:
            KeyError, TypeError, ValueError: it is not what the API describes.
        """
        match event:
            case "GUILD_CREATE":
                self._add_all(raw.get("channels", ()))
                self._add_all(raw.get("threads", ()))
                self._note_role(raw)
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                self.add(raw)
            case "THREAD_LIST_SYNC":
                self._add_all(raw.get("threads", ()))
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self._by_id.pop(str(raw["id"]), None)

    def _add_all(self, channels: Iterable[Json]) -> None:
        for raw in channels:
            if raw["type"] != _CATEGORY:
                self.add(raw)

    def _note_role(self, guild: Json) -> None:
        for role in guild.get("roles", ()):
            if str((role.get("tags") or {}).get("bot_id")) == self._bot_id:
                self._bot_roles[str(guild["id"])] = str(role["id"])


EVENTS = (
    "GUILD_CREATE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "CHANNEL_DELETE",
    "THREAD_CREATE",
    "THREAD_UPDATE",
    "THREAD_DELETE",
    "THREAD_LIST_SYNC",
)
"""The events that `Places.take` wants."""
