"""Files that tools gave back, on their way to the person who asked: each a message of its own, in its place.

They go out when the tool has returned, in the transaction that stores its result: what a person sees of a turn does
not depend on how the turn ends. Files lie in the folder of results until then; from there on the outbox has them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from agent.calls import ResultFile
from agent.events import Record, ToolReturned
from gateway.adapter import Capabilities
from gateway.document import Document, text_document
from gateway.filenames import safe_name
from gateway.messages import OutboundFile
from gateway.turns.wording import size_words

log = structlog.get_logger()

MOST = 20
"""Files of one turn: a tool that photographs each of its steps must not flood a chat."""

TOO_LARGE = "The file {name} ({size}) is larger than {limit}, the most that can be sent here."
NOT_HERE = "The file {name} ({size}) cannot be sent here."
UNREADABLE = "The file {name} could not be read any more."
TOO_MANY = "More than {most} files came of this; the others are not sent."


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A message with a file, or with words about one that is not sent."""

    words: Document
    file: OutboundFile | None = None


class Handing:
    """Reads what tools kept in `results`, as far as a target with these capabilities takes it."""

    def __init__(self, results: Path, able: Capabilities) -> None:
        self._results = results
        self._able = able

    async def handed(self, event: ToolReturned, records: Sequence[Record]) -> tuple[Handed, ...]:
        """The messages for the files of one result; `records` are the turn's so far, this one included."""
        before = sum(len(record.files) for record in records if isinstance(record, ToolReturned)) - len(
            event.files
        )
        room = max(MOST - before, 0)
        shown = [await self._one(file) for file in event.files[:room]]
        if before <= MOST < before + len(event.files):
            shown.append(_words(TOO_MANY.format(most=MOST)))
        return tuple(shown)

    async def _one(self, file: ResultFile) -> Handed:
        name, limit = safe_name(file.name), self._able.file_limit_bytes
        if file.size_bytes > limit:
            told = TOO_LARGE if limit else NOT_HERE
            return _words(told.format(name=name, size=size_words(file.size_bytes), limit=size_words(limit)))
        try:
            data = await asyncio.to_thread((self._results / Path(file.kept).name).read_bytes)
        except OSError as error:
            log.error("turn.file_unreadable", file=file.kept, reason=error.strerror)
            return _words(UNREADABLE.format(name=name))
        # No text of a tool is taken for an answer, which delivery knows by its type.
        mime_type = "text/plain" if file.mime_type == "text/markdown" else file.mime_type
        return Handed(words=Document(), file=OutboundFile(name=name, mime_type=mime_type, data=data))


def _words(text: str) -> Handed:
    return Handed(words=text_document(text))
