"""Who is notified by a text, given the `allowed_mentions` of the request.

https://docs.discord.com/developers/resources/message#allowed-mentions-object (read 2026). Without that object
everybody whom the text names is notified, and the author of the answered message.
"""

import re
from typing import Any

from .errors import invalid_form
from .records import Message

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_NAMED = re.compile(r"<@!?(\d+)>|<@&(\d+)>|@(everyone|here)")


def pings_of(text: str, allowed: dict[str, Any] | None, answered: Message | None) -> tuple[str, ...]:
    """Who is notified, each once, in order: user ids, role ids as "role:…", "everyone", "here".

    Raises:
        ApiError: 50035, when a kind is allowed as a whole and by ids.
    """
    found: list[str] = []
    for user, role, all_of in _NAMED.findall(_CODE.sub("", text)):
        name = user or (f"role:{role}" if role else all_of)
        if allowed is None or _allows(allowed, user, role):
            found.append(name)
    reply = allowed is None or bool(allowed.get("replied_user", "parse" not in allowed))
    if answered is not None and reply:
        found.append(str(answered.author.id))
    if allowed is not None:
        _check(allowed)
    return tuple(dict.fromkeys(found))


def _allows(allowed: dict[str, Any], user: str, role: str) -> bool:
    parse = allowed.get("parse", [])
    if user:
        return "users" in parse or user in map(str, allowed.get("users", []))
    if role:
        return "roles" in parse or role in map(str, allowed.get("roles", []))
    return "everyone" in parse


def _check(allowed: dict[str, Any]) -> None:
    for kind in ("users", "roles"):
        if kind in allowed.get("parse", []) and allowed.get(kind):
            raise invalid_form(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f"parse:[{kind!r}] and {kind}: [ids...] are mutually exclusive.",
            )
