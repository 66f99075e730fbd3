"""Names of files: what anybody calls a file, made safe to store under, to show and to hand to a platform (pure).

A name comes from strangers, tools and models. Kept of it is what a reader knows it by: its last part and its ending.
"""

import re
import unicodedata
from typing import Final

MAX_BYTES: Final = 120
"""Of a name in UTF-8. File systems take 255 (`NAME_MAX`), of which callers may need some for a mark of their own."""

_MAX_ENDING: Final = 16
_PARTS = re.compile(r"[/\\]")
_UNFIT = re.compile(r'[<>:"|?*\[\]\s]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def safe_name(given: str, *, otherwise: str = "file") -> str:
    """A file name on one line, at most `MAX_BYTES`: no path, no control or direction characters, no leading dot.

    The ending is kept. A name of which nothing is left is `otherwise`.
    """
    name = "".join(" " if char.isspace() else char for char in given if _is_kept(char))
    name = next((part for part in reversed(_PARTS.split(name)) if part.strip(" .")), "")
    name = _UNFIT.sub("_", name).lstrip("._-").rstrip("._")
    if not name:
        return otherwise
    if _RESERVED.match(name):
        name = f"_{name}"  # a device on Windows, where a person may save it
    stem, ending = _split(name)
    return _cut(stem, MAX_BYTES - len(ending.encode())).rstrip("._") + ending


def slug(title: str, *, words: int = 8) -> str:
    """The first words of a title as the stem of a file name, "" if it has no letter or digit."""
    found = re.findall(r"\w+", unicodedata.normalize("NFC", title).casefold())
    return _cut("-".join(found[:words]).strip("_-"), MAX_BYTES // 2).strip("_-")


def _is_kept(char: str) -> bool:
    # Cc control, Cf invisible formatting (direction marks among them), Cs lone surrogates.
    return char.isspace() or unicodedata.category(char) not in {"Cc", "Cf", "Cs"}


def _split(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    if not stem or len(f".{ending}".encode()) > _MAX_ENDING:
        return name, ""
    return stem, dot + ending


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")
