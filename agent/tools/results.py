"""A tool's result made fit for a model: bounded, without binary text; what does not fit goes to a file.

The model (and the store) get at most the limit, with a visible mark at the cut that names the size and the
file.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import Path

import regex

_MARK_FROM = 512
_LETTERS = "[A-Za-z0-9+/_-]"
_BASE64_RUN = re.compile(
    rf"(?:data:[\w.+-]+/[\w.+-]+;base64,)?(?<!{_LETTERS}){_LETTERS}{{64,}}"
    rf"(?:\r?\n{_LETTERS}{{64,}})*(?:\r?\n{_LETTERS}{{1,63}}=)?={{0,2}}"
)
"""A stretch without a space or full stop, or lines of it as MIME breaks them. A match begins only where
a stretch begins, so the search stays linear."""

_LOOK_BACK = 64


@dataclass(frozen=True, slots=True)
class ResultFolder:
    """Where results go that are too long or not text; file names say which call they belong to."""

    path: Path

    def write(self, name: str, data: bytes) -> str:
        """Keep a file; blocks, so call it in a thread. Returns its name: the model never sees a path."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.path / name).write_bytes(data)
        return name


def bounded(text: str, *, limit: int, folder: ResultFolder, key: str) -> str:
    """The text for the model, at most `limit` characters (user-perceived ones are never cut in half).

    Blocks when something has to be kept; call it in a thread.

    Args:
        text: The whole result.
        limit: In characters (Unicode code points), the mark at the cut included.
        folder: Where the rest is kept.
        key: The call's unique key, for the file's name.
    """
    text = without_base64(text, folder=folder, key=key)
    if len(text) <= limit:
        return text
    name = folder.write(f"{key}.txt", text.encode("utf-8", "replace"))
    mark = f"\n\n[… cut here: the result has {len(text):,} characters; the whole is kept as {name}]"
    return cut(text, max(0, limit - len(mark))) + mark


def cut(text: str, length: int) -> str:
    """The first `length` characters, or a few less where that would halve a grapheme (emoji, accents)."""
    if len(text) <= length:
        return text
    start = max(0, length - _LOOK_BACK)
    end = start
    for grapheme in regex.finditer(r"\X", text[start : length + _LOOK_BACK]):
        if start + grapheme.end() > length:
            break
        end = start + grapheme.end()
    # One grapheme longer than all we looked at is no character of any script: cut it.
    return text[: end if end > start else length]


def without_base64(text: str, *, folder: ResultFolder, key: str) -> str:
    """The text with long base64 stretches put into files and named in their place."""
    count = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal count
        data = _decode(match[0])
        if data is None:
            return match[0]
        count += 1
        name = folder.write(f"{key}.{count}{suffix_of(data)}", data)
        return f"[binary data, {len(data):,} bytes, kept as {name}]"

    return _BASE64_RUN.sub(keep, text)


def _decode(run: str) -> bytes | None:
    body = re.sub(r"\s", "", run.rpartition(",")[2]).rstrip("=")
    if len(body) < _MARK_FROM:
        return None
    # Digits of a number, a row of dashes, a hash list in lower case: long, yet no base64.
    if not (re.search("[a-z]", body) and re.search("[A-Z]", body) and re.search(r"\d|[+/_-]", body)):
        return None
    try:
        return base64.b64decode(body.translate(_URL_SAFE) + "=" * (-len(body) % 4), validate=True)
    except binascii.Error:
        return None


_URL_SAFE = str.maketrans("-_", "+/")

_MAGIC = (
    (b"\x89PNG", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"%PDF", ".pdf"),
    (b"PK\x03\x04", ".zip"),
    (b"OggS", ".ogg"),
    (b"RIFF", ".riff"),
)


def suffix_of(data: bytes) -> str:
    """A file name's ending by the data's first bytes; `.bin` if they say nothing."""
    return next((suffix for magic, suffix in _MAGIC if data.startswith(magic)), ".bin")
