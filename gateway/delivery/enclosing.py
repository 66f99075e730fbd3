"""What goes out as a file: an answer too long to be kind, with its beginning shown (pure).

Neighbours: a response's `stream` ends with it; `sender` asks what is shown where a platform refuses a file.
"""

from dataclasses import dataclass

from gateway.adapter import Capabilities
from gateway.chunking import opening, split
from gateway.document import Document, Heading, first_words, parse, text_document, text_of
from gateway.filenames import slug
from gateway.messages import OutboundFile

ANSWER_TYPE = "text/markdown"
"""By which an answer is told from the files of tools, which are never of this kind."""

OPENING_NOTE = "(This is the beginning; the whole answer follows as a file.)"
ANSWER_CAPTION = "This is the whole answer."
FILE_REFUSED = "The file {name} was refused by the platform and is missing here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosed:
    """A long answer: the one message that begins it where nothing of it is shown yet, and the file with all of it."""

    opening: Document
    file: OutboundFile


def enclosed(text: str, able: Capabilities, limit: int) -> Enclosed | None:
    """The answer as a beginning and a file; None if that is larger than the platform takes."""
    data = text.encode("utf-8", "replace")
    if len(data) > able.file_limit_bytes:
        return None
    document = parse(text)
    return Enclosed(
        opening=opening(document, able.measure, limit, OPENING_NOTE),
        file=OutboundFile(name=answer_name(document), mime_type=ANSWER_TYPE, data=data),
    )


def answer_name(document: Document) -> str:
    """The answer's file name: by its first heading if it begins with one, else by its first words."""
    first = document.blocks[0] if document.blocks else None
    start = Document(blocks=document.blocks[:3])
    title = text_of(first.spans) if isinstance(first, Heading) else first_words(start, 60)
    return f"{slug(title) or 'answer'}.md"


def told_instead(file: OutboundFile, able: Capabilities) -> tuple[Document, ...]:
    """What is shown where a platform refused a file: all of an answer as messages, of any other a word."""
    if file.mime_type != ANSWER_TYPE:
        return (text_document(FILE_REFUSED.format(name=file.name)),)
    return split(parse(file.data.decode()), able.measure, able.limit)
