r"""Markdown as models write it: what CommonMark would misread is marked before the one parse.

Each character that has to stay literal is replaced, one for one, by a stand-in from a plane of Unicode that
has no characters, so the parser sees a letter; after the parse the stand-ins become what they stood for, in
code as well. A joiner, a stand-in for nothing, goes between punctuation and `**` where the parser would
refuse to close there.

What stays literal, besides the rows of DLV-4: `*` between letters or digits (`2*3*4`), `**` as a power
(`x**2`), a single `~` ("5~10"), `<` unless it opens an autolink (models write about HTML, chats do not show
it), `[^1]`, a definition of a link to which nothing refers, and what could format inside a bare address. `\|` is
remembered, so that it never opens a spoiler.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

_PLANES: Final = range(4, 14)  # unassigned in every version of Unicode so far
_HIGH = re.compile("[\U00040000-\U000dffff]")

_URL: Final = (
    r"""https?://(?:[^\s<>()\[\]{}"`|\\^。、，；：！？）」』】》〉”’]|\([^\s<>()\[\]`|\\]*\))+"""
    r"(?<![*_~.,;:!?'])"
)
BARE_URL = re.compile(_URL)
"""A bare web address: up to white space, a bracket or a quote, without punctuation at its end."""

# every branch begins with a fixed character: the engine skips to these instead of trying each position
_SPECIAL = re.compile(
    rf"\\[!-/:-@\[-`{{-~]|{_URL}|\*+|~+|\[(?:\^|(?=[^\[\]]{{1,200}}\]:))"
    r"|<(?![A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,2000}>|[\w.!#$%&'*+/=?^`{|}~-]{1,80}@[\w.-]{1,250}>)"
)

_LABEL = re.compile(r"\[([^\[\]]{1,200})(?=\])")

_OPENING: Final = frozenset("([{<“‘«（「『【《〈〔")
_CLOSING: Final = frozenset(",.;:!?)]}。，；：！？、”’»）」』】》〉〕…%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Markdown ready for the parser.

    Attributes:
        text: The source with its stand-ins; as long as the source but for the joiners.
        base: The code point a stand-in for NUL would have; 0 when there are no stand-ins.
        joiners: Where joiners were put, as rising offsets in `text`.
    """

    text: str
    base: int = 0
    joiners: tuple[int, ...] = ()


def prepare(source: str) -> Prepared:
    """Return the source with stand-ins for all that must stay literal."""
    base = _free_plane(source)
    return _Preparation(source, base).run() if base else Prepared(text=source)


def _free_plane(source: str) -> int:
    """Return the first code point of a plane the source does not use, 0 if somebody used them all."""
    used = set() if source.isascii() else {ord(character) >> 16 for character in _HIGH.findall(source)}
    return next((plane << 16 for plane in _PLANES if plane not in used), 0)


class _Preparation:
    """One run of the substitution; it counts where joiners come to stand."""

    def __init__(self, source: str, base: int) -> None:
        self._source = source
        self._base = base
        self._joiners: list[int] = []
        self._labels: Counter[str] | None = None
        self._in_url = {ord(character): chr(base + ord(character)) for character in "*_~"}

    def run(self) -> Prepared:
        text = _SPECIAL.sub(self._replace, self._source)
        return Prepared(
            text=text, base=self._base if text != self._source else 0, joiners=tuple(self._joiners)
        )

    def _replace(self, match: re.Match[str]) -> str:
        found = match.group()
        match found[0]:
            case "*":
                return self._stars(found, match.start(), match.end())
            case "h":
                return found.translate(self._in_url)
            case "\\":
                return self._stand_in(found) if found == "\\|" else found
            case "~":
                return found if len(found) > 1 else self._stand_in(found)
            case "[":
                return self._bracket(found, match.end())
            case _:
                return self._stand_in(found)

    def _bracket(self, found: str, end: int) -> str:
        """Keep footnotes literal, and definitions of links to which nothing refers: they would vanish."""
        if found == "[^":
            return self._stand_in("[") + "^"
        if self._labels is None:
            self._labels = Counter(_label(label) for label in _LABEL.findall(self._source))
        label = self._source[end : self._source.index("]", end)]
        return found if self._labels[_label(label)] > 1 else self._stand_in(found)

    def _stars(self, run: str, start: int, end: int) -> str:
        before = self._source[start - 1] if start else " "
        after = self._source[end] if end < len(self._source) else " "
        if len(run) == 1:
            return self._stand_in(run) if _is_ascii_word(before) and _is_ascii_word(after) else run
        if len(run) > 3:
            return run
        if len(run) == 2 and after in "0123456789" and self._is_factor(before, start):
            return self._stand_in(run)
        if after.isalnum() and self._may_close_after(before, start, end):
            return self._joiner(start) + run
        if not before.isascii() and before.isalnum() and _may_open_before(after):
            return run + self._joiner(end)
        return run

    def _is_factor(self, before: str, start: int) -> bool:
        """Tell whether what stands before `**2` is a number or a variable of one letter."""
        if before.isdigit():
            return True
        further = self._source[start - 2] if start > 1 else " "
        return before.isascii() and before.islower() and not further.isalnum() and further != "*"

    def _may_close_after(self, before: str, start: int, end: int) -> bool:
        """Tell whether `**` after this punctuation, before a letter, is meant to close ("**Note:**text")."""
        if before.isalnum() or before.isspace() or before in "_\\" or before in _OPENING or start < 2:
            return False
        if self._source[start - 2].isspace():
            return False  # punctuation that begins a word, as an opening quote
        if before in ")]}":  # "(a)**2", "f(x)**n" are powers
            word = self._source[end : end + 2]
            return not word[0].isdigit() and not (word[0].isascii() and not word[1:].isalnum())
        return True

    def _stand_in(self, text: str) -> str:
        return "".join([chr(self._base + ord(character)) for character in text])

    def _joiner(self, at: int) -> str:
        self._joiners.append(at + len(self._joiners))
        return chr(self._base)


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _may_open_before(after: str) -> bool:
    """Tell whether `**` between a CJK letter and this is meant to open ("是**“重点”**")."""
    return not after.isalnum() and not after.isspace() and after not in "_\\*" and after not in _CLOSING


def restore(text: str, base: int, *, code: bool = False) -> str:
    r"""Return the text with every stand-in replaced by what it stood for.

    A remembered backslash (of `\|`) is shown in code only.
    """
    if not base or text.isascii():
        return text
    return re.sub(f"[{chr(base)}-{chr(base + 0x7F)}]", _Restoring(base, code=code), text)


class _Restoring:
    def __init__(self, base: int, *, code: bool) -> None:
        self._base = base
        self._hidden = {0} if code else {0, ord("\\")}

    def __call__(self, match: re.Match[str]) -> str:
        point = ord(match.group()) - self._base
        return "" if point in self._hidden else chr(point)
