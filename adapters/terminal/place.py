"""What a terminal is to the gateway: its source, its account and what it can show.

Apart from the adapter, so that a daemon which terminals may join need not load what draws on a screen.
"""

from dataclasses import replace
from itertools import count
from pathlib import Path

from gateway.adapter import Capabilities
from gateway.document import Document, paragraph, plain, span
from gateway.errors import MessageRejected
from gateway.messages import OutboundFile, OutboundMessage
from gateway.source import SessionSource

LIMIT = 100_000
"""Characters of one message: a terminal has no limit, but a piece of a reply should have one."""


def source_of(account: str) -> SessionSource:
    """The person at the terminal that is this account: each account is a conversation of its own."""
    return SessionSource(
        platform="terminal", account=account, kind="dm", chat_id=account, user_id="local", user_name="you"
    )


def measure(document: Document) -> int:
    """The characters of what a reader sees."""
    return len(plain(document))


HERE = source_of("local")

FILE_LIMIT_BYTES = 100_000_000
"""A terminal has no limit; what is sent passes through memory and the store."""

CAPABILITIES = Capabilities(
    measure=measure, limit=LIMIT, edit_limit=LIMIT, markup="ansi", buttons=True, edit_gap_s=0.0
)
"""A long limit, numbered buttons, no threads; files where there is a folder for them."""


def able(files_dir: Path | None) -> Capabilities:
    """`CAPABILITIES` of a terminal whose files are put into this folder."""
    if files_dir is None:
        return CAPABILITIES
    return replace(CAPABILITIES, file_limit_bytes=FILE_LIMIT_BYTES, caption_limit=LIMIT // 2)


def keep_file(folder: Path, file: OutboundFile) -> Path:
    """Put a file into the folder under its name, or a numbered one where another has that; blocks.

    Raises:
        MessageRejected: it cannot be written.
    """
    stem, suffix = Path(file.name).stem, Path(file.name).suffix
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for number in count(1):
            path = folder / (file.name if number == 1 else f"{stem}-{number}{suffix}")
            if not path.exists():
                path.write_bytes(file.data)
                return path
            if path.read_bytes() == file.data:  # a repeated try
                return path
    except OSError as error:
        raise MessageRejected(f"{file.name} cannot be kept: {error.strerror}") from None
    raise AssertionError("numbers do not end")


def with_path(message: OutboundMessage, path: Path) -> OutboundMessage:
    """The message that tells where its file is."""
    told = paragraph("File: ", span(str(path), "code"))
    return replace(message, body=Document(blocks=(*message.body.blocks, told)), file=None)
