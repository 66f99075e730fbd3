"""The kinds of single values a configuration holds, each with its check.

A `ValueError` raised here reads "what is wrong; what to do": `load` shows the two halves as a `Problem`.
Adapters cannot use these types (they may not import this package); theirs are checked by their own models.
"""

import re
from datetime import time
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field

from gateway.config.problems import quoted

# Telegram, Discord: digits. Slack: capitals with digits (U012AB3CD, C0…). Neither can be chosen by a
# person as a name to be shown, which is the point: a display name must never open the gate.
_ID = re.compile(r"-?[0-9]+|[A-Z](?=[A-Z0-9]*[0-9])[A-Z0-9]+")
_PREFIXED = re.compile(r"(chat|role):(.+)", re.DOTALL)
_USER_REF = re.compile(r"([a-z][a-z0-9_-]*):(\S+)")
_GLOB = re.compile(r"[^\s/]+(/[^\s/]+)?")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


def _text(value: object) -> object:
    """Ids may be written as numbers; they are kept as text, since some are longer than a double holds."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _user_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise ValueError(
            f"{quoted(value)} is no user id, and names are not accepted because anybody can take one; "
            "give the id (the bot tells it to strangers)"
        )
    return value


def _access_entry(value: str) -> str:
    prefixed = _PREFIXED.fullmatch(value)
    if value == "*" or _ID.fullmatch(prefixed[2] if prefixed else value):
        return value
    raise ValueError(
        f"{quoted(value)} is no id, and names are not accepted because anybody can take one; "
        'write a user id (the bot tells it to strangers), "chat:" or "role:" with an id, or "*" for everybody'
    )


def _user_ref(value: str) -> str:
    found = _USER_REF.fullmatch(value)
    if found is None:
        raise ValueError(f"{quoted(value)} does not say whose id it is; write platform:id")
    return value


def _chat_ref(value: str) -> str:
    if _USER_REF.fullmatch(value) is None:
        raise ValueError(f"{quoted(value)} does not say whose chat it is; write platform:chat id")
    return value


def _glob(value: str) -> str:
    if not _GLOB.fullmatch(value):
        raise ValueError(
            f'{quoted(value)} is no pattern for tools; write "server/tool", with * where any will do'
        )
    return value


def _time_of_day(value: str) -> time:
    found = _TIME.fullmatch(value)
    if found is None:
        raise ValueError(f'{quoted(value)} is no time of day; write "HH:MM", from "00:00" to "23:59"')
    return time(int(found[1]), int(found[2]))


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder's name gives an OSError
        raise ValueError(
            f"{quoted(value)} is no known time zone; write one like Europe/Lisbon or UTC"
        ) from None
    return value


UserId = Annotated[str, BeforeValidator(_text), AfterValidator(_user_id)]
"""A user's id on its platform, as text."""

AccessEntry = Annotated[str, BeforeValidator(_text), AfterValidator(_access_entry)]
"""Who is let in: `123` (a user), `chat:-100…` (all members of a chat), `role:…`, or `*`; never a name."""

UserRef = Annotated[str, BeforeValidator(_text), AfterValidator(_user_ref)]
"""A user with the platform: `platform:id`, the same form as a turn's requester."""

ChatRef = Annotated[str, BeforeValidator(_text), AfterValidator(_chat_ref)]
"""A chat with its platform: `platform:chat id`."""

ToolGlob = Annotated[str, AfterValidator(_glob)]
"""A pattern over `server/tool`; `*` stands for any run of characters."""

TimeOfDay = Annotated[
    time, BeforeValidator(lambda value: _time_of_day(value) if isinstance(value, str) else value)
]
"""A wall-clock time without zone, written `HH:MM`."""

ZoneName = Annotated[str, AfterValidator(_zone)]
"""A name of the IANA time zone database."""

YEAR_S = 366 * 86_400
Seconds = Annotated[float, Field(gt=0, le=YEAR_S, allow_inf_nan=False)]
"""A span of time in seconds, above 0 and at most a year."""

Days = Annotated[float, Field(ge=1, le=36_500, allow_inf_nan=False)]

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
"""A whole number from 1."""
