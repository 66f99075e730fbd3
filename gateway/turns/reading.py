"""Files that people send, read for the model: text as text, of any other kind why it is not read.

What was read is stored with the turn before the model hears it, so that a turn that goes on after a crash goes on from
the same words. Neighbours: `intake` asks whether a message of nothing but files is worth a turn; `delivery` fetches.
"""

import asyncio
import codecs
import re
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

import structlog
from tenacity import wait_random_exponential

from gateway.clock import Clock, to_ms, wait_s
from gateway.delivery import Delivery
from gateway.document.build import literal
from gateway.errors import FileTooLarge, MessageRejected, SendError
from gateway.messages import Attachment, Target
from gateway.store import turns
from gateway.store.inputs import Given
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from gateway.turns.wording import list_faults, size_words

log = structlog.get_logger()

MOST = 10
"""Files of one message that are read."""

FETCH_S = 60.0
_TRIES = 3
_BETWEEN = wait_random_exponential(multiplier=1, max=4)

_TEXT_TYPES: Final = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/x-httpd-php",
        "application/x-ndjson",
        "application/x-python-code",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
        "image/svg+xml",
    }
)
_UNSTATED: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_TEXT_ENDINGS: Final = re.compile(
    r"bash|c|cc|cfg|conf|cpp|cs|css|csv|diff|env|go|h|hpp|html?|ini|java|jsx?|jsonl?|kt|log|lua|md|ndjson|patch|php|pl"
    r"|properties|py|r|rb|rs|rst|scss|sh|sql|srt|svg|swift|tex|toml|tsv|tsx?|txt|vtt|xml|ya?ml|zsh",
    re.IGNORECASE,
)


TOO_LARGE = "larger than {size}, the most I read of a file"
NOT_READ = "I answer without what I could not read ({files})."
NOT_TEXT = "it is no text"
EMPTY = "it is empty"
UNFETCHED = "it could not be fetched"
TOO_MANY = "more than {most} files at once"
CUT = "\n[… cut here: the file has {length:,} characters]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """What is fetched and shown of one file."""

    max_bytes: int = 1_000_000
    max_chars: int = 50_000


def may_be_text(attachment: Attachment) -> bool:
    """Whether a file's stated type or, where none is, its name's ending is that of a text."""
    mime_type = attachment.mime_type.partition(";")[0].strip().casefold()
    if mime_type in _UNSTATED:
        return _TEXT_ENDINGS.fullmatch(PurePath(attachment.name).suffix[1:]) is not None
    return mime_type.startswith("text/") or mime_type in _TEXT_TYPES or mime_type.endswith(("+json", "+xml"))


def as_text(data: bytes, max_chars: int) -> str | None:
    """The text in a file's bytes: UTF-8, or UTF-16 with its mark; cut to `max_chars`. None if it is none."""
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    text = literal(text).strip("\n")
    mark = CUT.format(length=len(text))
    return text if len(text) <= max_chars else text[: max(max_chars - len(mark), 0)] + mark


class FileReader:
    """Reads a turn's files once."""

    def __init__(self, database: Store, delivery: Delivery, limits: FileLimits, clock: Clock) -> None:
        self._db = database
        self._delivery = delivery
        self._limits = limits
        self._clock = clock

    async def read(self, claim: Claim) -> Claim:
        """The claim with its files read, and stored so; one that has begun, or is stopped, as it is.

        Raises:
            Fenced: someone else runs the lane by now.
            StoreUnavailable: it could not be stored.
        """
        if claim.stop is not None or claim.events:
            return claim
        unread = [each for each in claim.input.attachments if each.text is None and each.fault is None]
        if not unread:
            return claim
        seen: dict[str, Given] = {}
        for number, given in enumerate(unread):
            seen[given.file.ref] = (
                await self._one(claim.target, given)
                if number < MOST
                else replace(given, fault=TOO_MANY.format(most=MOST))
            )
        row = claim.input.with_read(seen)

        def store(tx: Tx) -> None:
            turns.set_input(tx, claim.fence, row, to_ms(self._clock()))
            if row.text.strip() and (faults := list_faults(row.attachments)):
                words = NOT_READ.format(files=faults)
                self._delivery.post_notice(
                    tx, claim.target, words, turn_id=claim.turn_id, part="notice:files"
                )

        await self._db.write(store)
        return replace(claim, input=row)

    async def _one(self, target: Target, given: Given) -> Given:
        file, limit = given.file, self._limits.max_bytes
        if not may_be_text(file):
            return replace(given, fault="")  # its name says enough
        if (file.size_bytes or 0) > limit:
            return replace(given, fault=TOO_LARGE.format(size=size_words(limit)))
        try:
            data = await self._fetched(target, file)
        except FileTooLarge as error:
            return replace(given, fault=str(error))
        except (SendError, TimeoutError) as error:
            log.warning("turn.file_not_fetched", reason=str(error) or type(error).__name__)
            return replace(given, fault=UNFETCHED)
        if not data:
            return replace(given, fault=EMPTY)
        text = as_text(data, self._limits.max_chars)
        return replace(given, fault=NOT_TEXT) if text is None else replace(given, text=text)

    async def _fetched(self, target: Target, file: Attachment) -> bytes:
        async with asyncio.timeout(FETCH_S):
            for tries in range(1, _TRIES):
                try:
                    return await self._delivery.fetch(target, file, self._limits.max_bytes)
                except MessageRejected:
                    raise
                except SendError:
                    await asyncio.sleep(wait_s(_BETWEEN, tries))
            return await self._delivery.fetch(target, file, self._limits.max_bytes)
