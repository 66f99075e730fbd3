"""Where a message comes from, and the one place that turns this into a session's key.

`SessionSource` is filled by an adapter's parser and travels unchanged inside every inbound value.
`session_key` decides who shares a conversation; nothing else may build such keys.
"""

from dataclasses import dataclass
from typing import Literal

ChatKind = Literal["dm", "group", "channel", "thread"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSource:
    """One person in one place of one platform, as one bot account sees it.

    Ids are the platform's own, as text. `thread_id` is set only where the platform keeps threads or topics
    apart. `user_name` and `chat_name` are for people and models to read, never for decisions.
    """

    platform: str
    account: str
    kind: ChatKind
    chat_id: str
    thread_id: str | None = None
    user_id: str
    user_name: str = ""
    chat_name: str = ""

    @property
    def requester(self) -> str:
        """The person as `platform:user_id`: the form in which turns, requests and grants name people."""
        return f"{self.platform}:{self.user_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionScope:
    """Who shares a session: in a group each person or all, in a thread all or each person."""

    group: Literal["user", "shared"] = "user"
    thread: Literal["shared", "user"] = "shared"


def session_key(source: SessionSource, scope: SessionScope) -> str:
    """The key of the lane that serves this source.

    Parts are escaped, so that no two different sources meet in one key. A direct chat is its chat; a thread
    (or topic) is its own and by default its members'; a group is each person's or, if `scope` says so, shared.
    """
    parts = [source.platform, source.account, source.kind, source.chat_id, source.thread_id or ""]
    if not is_shared(source, scope) and source.kind != "dm":
        parts.append(source.user_id)
    return ":".join(_escape(part) for part in parts)


def moved_key(key: str, chat_id: str) -> str:
    """The key of the same lane once its chat goes by another id."""
    parts = key.split(":")
    parts[3] = _escape(chat_id)
    return ":".join(parts)


def is_direct(key: str) -> bool:
    """Whether a session key is one of a direct chat."""
    return key.split(":")[2] == "dm"


def is_shared(source: SessionSource, scope: SessionScope) -> bool:
    """Whether several people speak in the session of this source, so that lines need a speaker's name.

    A platform that hides who speaks (Telegram's anonymous admins, the authors of a channel) names the chat itself.
    """
    if source.kind != "dm" and source.user_id == source.chat_id:
        return True
    match source.kind:
        case "dm":
            return False
        case "thread":
            return scope.thread == "shared"
        case "group" | "channel":
            return scope.group == "shared"


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")
