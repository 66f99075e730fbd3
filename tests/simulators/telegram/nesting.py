"""Which entities may lie in each other, and what the server makes of those that may not.

Bot API, "Formatting options" (2026): common characters only if one entity is wholly inside the other; bold,
italic, underline, strikethrough and spoiler may contain and be part of anything except pre and code;
blockquotes do not nest; pre and code contain nothing; all others do not contain each other. In fact pre, code
and links within a blockquote are kept. The server refuses nothing of this: it drops and splits, so each such
repair is reported as a violation.
"""

from dataclasses import replace
from itertools import pairwise

from .text import Entity

SPLITTABLE = ("bold", "italic", "underline", "strikethrough", "spoiler")
BLOCKQUOTES = ("blockquote", "expandable_blockquote")
PRE = ("pre", "code")
KEEPS_WHITESPACE = (*PRE, "text_link", "text_mention")
"""Entities that the server neither shortens nor drops for beginning with or being white space."""

_PRIORITY = {
    "blockquote": 0,
    "expandable_blockquote": 0,
    "pre": 11,
    "code": 20,
    "text_link": 49,
    "text_mention": 49,
}
_PRIORITY |= {
    "bold": 90,
    "italic": 91,
    "underline": 92,
    "strikethrough": 93,
    "spoiler": 94,
    "custom_emoji": 99,
}


def in_order(entities: list[Entity]) -> list[Entity]:
    """Sort entities as the server does: by offset, the longer first, then by type."""
    return sorted(entities, key=lambda one: (one.offset, -one.length, _PRIORITY.get(one.type, 50)))


def untangle(entities: list[Entity]) -> tuple[list[Entity], list[str]]:
    """Return the entities the server keeps, in order, and the violations found."""
    entities = in_order(entities)
    violations = find_violations(entities)
    return (_repair(entities) if violations else entities), violations


def find_violations(entities: list[Entity]) -> list[str]:
    """Name each breach of the nesting rules; the entities must be in order."""
    found = []
    around: list[Entity] = []
    for entity in entities:
        while around and around[-1].offset + around[-1].length <= entity.offset:
            around.pop()
        if breach := _breach(entity, around):
            found.append(breach)
        around.append(entity)
    return found


def _breach(entity: Entity, around: list[Entity]) -> str | None:
    if not around:
        return None
    outer = {one.type for one in around}
    if entity.offset + entity.length > around[-1].offset + around[-1].length:
        return f"{entity.type} overlaps {around[-1].type}"
    if entity.type in outer:
        return f"{entity.type} inside {entity.type}"
    if entity.type in BLOCKQUOTES and (inside := outer.intersection(BLOCKQUOTES)):
        return f"{entity.type} inside {inside.pop()}"
    if inside := outer.intersection(PRE):
        return f"{entity.type} inside {inside.pop()}"
    if entity.type in PRE and (inside := outer.difference(BLOCKQUOTES)):
        return f"{entity.type} inside {inside.pop()}"
    if entity.type not in SPLITTABLE and (inside := outer.difference(SPLITTABLE, BLOCKQUOTES)):
        return f"{entity.type} inside {inside.pop()}"
    return None


def _repair(entities: list[Entity]) -> list[Entity]:
    quotes = _without_intersecting([one for one in entities if one.type in BLOCKQUOTES])
    solid = _without_intersecting([one for one in entities if one.type not in (*BLOCKQUOTES, *SPLITTABLE)])
    solid = [one for one in solid if not any(_is_crossing(one, quote) for quote in quotes)] + quotes
    merged = [one for kind in SPLITTABLE for one in _merge([e for e in entities if e.type == kind])]
    edges = {place for one in solid for place in (one.offset, one.offset + one.length)}
    cuts = sorted(edges | {one.offset for one in merged})
    pieces = [piece for one in merged for piece in _split(one, cuts)]
    code = [one for one in solid if one.type in PRE]
    return in_order(solid + [piece for piece in pieces if not any(_is_within(piece, one) for one in code)])


def _without_intersecting(entities: list[Entity]) -> list[Entity]:
    kept: list[Entity] = []
    for entity in entities:
        if not kept or entity.offset >= kept[-1].offset + kept[-1].length:
            kept.append(entity)
    return kept


def _is_within(inner: Entity, outer: Entity) -> bool:
    return outer.offset <= inner.offset and inner.offset + inner.length <= outer.offset + outer.length


def _is_crossing(entity: Entity, quote: Entity) -> bool:
    apart = entity.offset + entity.length <= quote.offset or quote.offset + quote.length <= entity.offset
    return not apart and not _is_within(entity, quote)


def _merge(entities: list[Entity]) -> list[Entity]:
    """Join ranges of one type that touch or overlap."""
    merged: list[Entity] = []
    for entity in entities:
        if merged and entity.offset <= merged[-1].offset + merged[-1].length:
            end = max(merged[-1].offset + merged[-1].length, entity.offset + entity.length)
            merged[-1] = replace(merged[-1], length=end - merged[-1].offset)
        else:
            merged.append(entity)
    return merged


def _split(entity: Entity, cuts: list[int]) -> list[Entity]:
    end = entity.offset + entity.length
    inside = [place for place in cuts if entity.offset < place < end]
    bounds = [entity.offset, *inside, end]
    return [replace(entity, offset=begin, length=stop - begin) for begin, stop in pairwise(bounds)]
