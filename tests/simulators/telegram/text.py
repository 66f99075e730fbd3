"""A message's text and entities as Telegram keeps them.

Offsets and lengths are UTF-16 code units everywhere outside `Units`. The server's rules are those of TDLib's
`fix_formatted_text` (td/telegram/MessageEntity.cpp, read 2026), which the Bot API server runs on all texts.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

TEXT_LIMIT_UNITS = 4096
CAPTION_LIMIT_UNITS = 1024
ENTITY_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One styled range of a text.

    `extra` holds what belongs to the type: url, language, user, custom_emoji_id.
    """

    type: str
    offset: int
    length: int
    extra: Mapping[str, Any] = field(default_factory=dict)

    def payload(self) -> dict[str, Any]:
        """The Bot API's `MessageEntity`."""
        return {"type": self.type, "offset": self.offset, "length": self.length, **self.extra}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedText:
    """A text as shown, its entities, and what the platform repaired on the way without telling anybody."""

    text: str
    entities: tuple[Entity, ...] = ()
    violations: tuple[str, ...] = ()


def utf16_length(text: str) -> int:
    """The length of a text in UTF-16 code units, the unit of every Telegram limit and offset."""
    if not text or max(text) <= "\uffff":
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


class Units:
    """Where the characters of one text lie in UTF-16."""

    def __init__(self, text: str) -> None:
        self.starts: Sequence[int] = range(len(text) + 1)
        if utf16_length(text) > len(text):
            widths = (2 if character > "\uffff" else 1 for character in text)
            self.starts = tuple(accumulate(widths, initial=0))

    @property
    def total(self) -> int:
        """The whole text's length in UTF-16 units."""
        return self.starts[-1]

    def index(self, offset: int) -> int | None:
        """The character that begins at this UTF-16 offset.

        None within a surrogate pair or outside the text.
        """
        place = bisect_left(self.starts, offset)
        return place if place < len(self.starts) and self.starts[place] == offset else None

    def slice(self, text: str, entity: Entity) -> str:
        """The part of the text that an entity covers."""
        begin, end = self.index(entity.offset), self.index(entity.offset + entity.length)
        assert begin is not None, entity
        assert end is not None, entity
        return text[begin:end]
