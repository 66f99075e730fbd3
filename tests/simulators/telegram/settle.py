"""From what a bot sent to what people see: cleaned, trimmed, entities checked and moved along.

`settle` refuses what the server refuses and repairs what it repairs, in the server's order: entity bounds,
nesting, control characters, white space of entities, white space of the message, emptiness, length.
"""

import re
from dataclasses import dataclass

from .errors import bad_request
from .nesting import KEEPS_WHITESPACE, SPLITTABLE, untangle
from .text import ENTITY_LIMIT, Entity, FormattedText, Units, utf16_length

_CONTROL = {code: " " for code in range(32) if chr(code) not in "\n\r"}
# Dropped by the server: carriage returns, line separators, bidi overrides, three combining vertical lines.
_DROPPED = re.compile("[\r\u2028-\u202e\u0333\u033f\u030a]")
# A message of nothing but these is empty to the server (TDLib, strip_empty_characters).
_INVISIBLE = re.compile(
    "[\\s\u00ad\u1680\u180e\u2000-\u200f\u202f\u205f\u2060-\u2064\u2800\u3000\u3164\ufeff\ufffc]*"
)


@dataclass(slots=True)
class _Range:
    """An entity while it is worked on, in characters of the text instead of UTF-16 units."""

    begin: int
    end: int
    entity: Entity


def settle(
    text: str, entities: list[Entity], limit_units: int, *, may_be_empty: bool = False
) -> FormattedText:
    """Return the text as Telegram would show it.

    Args:
        text: As sent, after any parse mode.
        entities: As sent or as the parse mode found them; any order.
        limit_units: The longest text allowed, in UTF-16 units, counted on the result.
        may_be_empty: A caption may be; a message text may not.

    Raises:
        ApiError: 400 with the server's words.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise bad_request("strings must be encoded in UTF-8") from None
    ranges, violations = _place(text, entities)
    text, ranges = _clean(text, ranges)
    ranges = _without_whitespace(text, ranges, violations)
    text, ranges = _trim(text, ranges)
    if _INVISIBLE.fullmatch(text):
        if may_be_empty:
            return FormattedText(text="", violations=tuple(violations))
        raise bad_request("text must be non-empty")
    if utf16_length(text) > limit_units:
        raise bad_request(_too_long(may_be_empty))
    return FormattedText(text=text, entities=_final(text, ranges, violations), violations=tuple(violations))


def _too_long(is_caption: bool) -> str:
    return "message caption is too long" if is_caption else "message is too long"


def _place(text: str, entities: list[Entity]) -> tuple[list[_Range], list[str]]:
    """Check bounds and nesting; turn UTF-16 offsets into character positions."""
    if not entities:
        return [], []
    for entity in entities:
        if not 0 <= entity.offset <= 1_000_000:
            raise bad_request(f"receive an entity with incorrect offset {entity.offset}")
        if not 0 <= entity.length <= 1_000_000:
            raise bad_request(f"receive an entity with incorrect length {entity.length}")
    violations = [f"empty {one.type}" for one in entities if one.length == 0]
    kept, tangles = untangle([one for one in entities if one.length])
    units = Units(text)
    return [_range(text, units, entity) for entity in kept], violations + tangles


def _range(text: str, units: Units, entity: Entity) -> _Range:
    end_offset = entity.offset + entity.length
    begin, end = units.index(entity.offset), units.index(end_offset)
    if entity.offset > units.total:
        raise bad_request(f"entity begins after the end of the text at UTF-16 offset {entity.offset}")
    if begin is None:
        place = len(text[: units.starts.index(entity.offset + 1)].encode())
        raise bad_request(f"entity begins in a middle of a UTF-16 symbol at byte offset {place}")
    where = f"entity beginning at UTF-16 offset {entity.offset}"
    if end_offset > units.total:
        raise bad_request(f"{where} ends after the end of the text at UTF-16 offset {end_offset}")
    if end is None:
        place = len(text[: units.starts.index(end_offset + 1)].encode())
        raise bad_request(f"{where} ends in a middle of a UTF-16 symbol at byte offset {place}")
    return _Range(begin, end, entity)


def _clean(text: str, ranges: list[_Range]) -> tuple[str, list[_Range]]:
    text = text.translate(_CONTROL)
    gone = [match.start() for match in _DROPPED.finditer(text)]
    if gone:
        moved = [0]
        dropped = set(gone)
        for place in range(len(text)):
            moved.append(moved[-1] + (place not in dropped))
        for one in ranges:
            one.begin, one.end = moved[one.begin], moved[one.end]
        text = _DROPPED.sub("", text)
    return text, [one for one in ranges if one.begin < one.end]


def _without_whitespace(text: str, ranges: list[_Range], violations: list[str]) -> list[_Range]:
    kept = []
    for one in ranges:
        if one.entity.type not in KEEPS_WHITESPACE:
            while one.begin < one.end and text[one.begin] in " \n":
                one.begin += 1
            if one.begin == one.end:
                violations.append(f"{one.entity.type} of white space only")
                continue
        kept.append(one)
    return kept


def _trim(text: str, ranges: list[_Range]) -> tuple[str, list[_Range]]:
    text = text.rstrip(" \n")
    ranges = [one for one in ranges if one.begin < len(text)]
    for one in ranges:
        one.end = min(one.end, len(text))
    first = min((one.begin for one in ranges), default=len(text))
    lead = min(first, len(text) - len(text.lstrip(" \n")))
    for one in ranges:
        one.begin, one.end = one.begin - lead, one.end - lead
    return text[lead:], ranges


def _final(text: str, ranges: list[_Range], violations: list[str]) -> tuple[Entity, ...]:
    if not ranges:
        return ()
    if len(ranges) > ENTITY_LIMIT:
        violations.append(f"more than {ENTITY_LIMIT} entities")
        # The server takes links, code and quotes first, then styles; of each what comes first in the text.
        ranges = sorted(ranges, key=lambda one: one.entity.type in SPLITTABLE)[:ENTITY_LIMIT]
    starts = Units(text).starts
    settled = [
        Entity(
            type=one.entity.type,
            offset=starts[one.begin],
            length=starts[one.end] - starts[one.begin],
            extra=one.entity.extra,
        )
        for one in ranges
    ]
    return tuple(untangle(settled)[0])
