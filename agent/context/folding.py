"""What compressions make of a list of messages (pure; knows nothing of what a message is).

A `Compressed` record replaces the messages `[start, stop)` of the list as it was then by one; later messages only
ever follow at the end, so that the same records give the same list whenever they are applied.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agent.events import Compressed, Record

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What becomes of an agent's stored messages at the end of a turn.

    The stored messages `[start, stop)` are replaced by `instead` (never more than they were), then `appended` follow.
    """

    start: int = 0
    stop: int = 0
    instead: tuple[str, ...] = ()
    appended: tuple[str, ...] = ()


KEEPS_ALL = Keeping()
"""Nothing is replaced and nothing is added."""


def compressions_in(records: Iterable[Record]) -> tuple[Compressed, ...]:
    """The compressions of a turn, in order."""
    return tuple(record for record in records if isinstance(record, Compressed))


def without_compressions(records: Iterable[Record]) -> tuple[Record, ...]:
    """The records of the same turn, as if nothing had been shortened."""
    return tuple(record for record in records if not isinstance(record, Compressed))


def folded(items: Iterable[T], compressions: Sequence[Compressed], summaries: Sequence[T]) -> list[T]:
    """The list after all compressions; `summaries` are their messages in the list's own form."""
    out = list(items)
    for compression, summary in zip(compressions, summaries, strict=True):
        out[compression.start : compression.stop] = [summary]
    return out


def moved(position: int, compressions: Iterable[Compressed]) -> int:
    """Where the message at `position` stands afterwards; one that was replaced stands where its summary does."""
    for compression in compressions:
        if position >= compression.stop:
            position -= compression.stop - compression.start - 1
        elif position > compression.start:
            position = compression.start
    return position


def kept(history: Sequence[str], closed: Sequence[str], compressions: Sequence[Compressed]) -> Keeping:
    """What to store, after a turn that adds `closed` to `history` and had these compressions."""
    base = [*enumerate(history), *((None, message) for message in closed)]
    entries: list[tuple[int | None, str]] = folded(
        base, compressions, [(None, each.message_json) for each in compressions]
    )
    start = next((place for place, (number, _) in enumerate(entries) if number != place), len(entries))
    last = max((place + 1 for place, (number, _) in enumerate(entries) if number is not None), default=0)
    stop, end = len(history), max(last, start)
    while end > start and entries[end - 1][0] == stop - 1:
        stop, end = stop - 1, end - 1
    instead = tuple(text for _, text in entries[start:end])
    return Keeping(
        start=start,
        stop=stop,
        instead=instead,
        appended=tuple(text for _, text in entries[max(last, start) :]),
    )
