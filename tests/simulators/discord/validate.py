"""What Discord's client shows of a message's content, and what its API refuses.

The dialect is read as the client does it: simple-markdown's rules with Discord's own expressions (as published in
community ports of the client, 2026), tried in order at each place. `read` returns what people see.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

CONTENT_LIMIT = 2000


class Refused(ValueError):
    """The API answers 400 (code 50035 or 50006)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Text as seen, under a set of styles.

    Styles: bold, italic, underline, strike, spoiler, code, pre, "pre LANGUAGE", quote, heading, marker (of a list
    item), "link URL", mention.
    """

    text: str
    styles: frozenset[str]


_FENCE = re.compile(r"```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```", re.IGNORECASE)
_CODE = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
_ESCAPE = re.compile(r"\\([^0-9A-Za-z\s])")
_AUTOLINK = re.compile(r"<(https?://[^ >]+)>")
_URL = re.compile(r"https?://[^\s<]+[^<.,:;\"')\]\s]")
_MASKED = re.compile(r"\[((?:\\.|\[[^\]]*\]|[^\[\]\\])*)\]\(\s*<?((?:\([^)]*\)|[^\s\\()<>]|\\.)*)>?\s*\)")
_MENTION = re.compile(r"<(?:@[!&]?\d+|#\d+|a?:\w+:\d+|t:-?\d+(?::\w)?|/[\w ]+:\d+|id:\w+)>|@everyone|@here")
_PAIRS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "italic",
        re.compile(
            r"\b_((?:__|\\[\s\S]|[^\\_])+?)_\b|\*(?=\S)((?:\*\*|\s+(?:[^*\s]|\*\*)|[^\s*])+?)\*(?!\*)"
        ),
    ),
    ("bold", re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")),
    ("underline", re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)")),
    ("strike", re.compile(r"~~([\s\S]+?)~~(?!_)")),
    ("spoiler", re.compile(r"\|\|([\s\S]+?)\|\|")),
)
_LINE = re.compile(r"(?P<heading>#{1,3} +)|(?P<item> *(?:[-*]|\d+\.) +)|(?P<quote>> )")


def check(content: str) -> None:
    """Raise what the API would answer to this content.

    Raises:
        Refused: empty, or longer than 2000 code points.
    """
    if not content.strip():
        raise Refused("Cannot send an empty message")
    if len(content) > CONTENT_LIMIT:
        raise Refused("Must be 2000 or fewer in length.")


def read(content: str) -> tuple[Run, ...]:
    """Return what a reader sees, in order."""
    check(content)
    reader = _Reader()
    reader.lines(content)
    return tuple(reader.runs)


def visible(content: str) -> str:
    """Return the text a reader sees."""
    return "".join(run.text for run in read(content))


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Run] = []

    def lines(self, content: str) -> None:
        at = 0
        quoted: list[str] = []
        while at < len(content):
            line_end = content.find("\n", at)
            line_end = len(content) if line_end < 0 else line_end + 1
            if content.startswith("> ", at):
                quoted.append(content[at + 2 : line_end])
                at = line_end
                continue
            self._quote(quoted)
            styles: frozenset[str] = frozenset()
            while (start := _LINE.match(content, at)) and start.lastgroup == "item":
                self._add(start.group(), frozenset({"marker"}))
                at = start.end()
            if start and start.lastgroup == "heading":
                styles, at = frozenset({"heading"}), start.end()
            at = self.inline(content, at, styles)
        self._quote(quoted)

    def _quote(self, quoted: list[str]) -> None:
        if quoted:
            inner = _Reader()
            inner.lines("".join(quoted))
            self.runs += [Run(text=run.text, styles=run.styles | {"quote"}) for run in inner.runs]
            quoted.clear()

    def inline(self, content: str, at: int, styles: frozenset[str], *, to_end: bool = False) -> int:
        """Read up to the next line's start (or the end) and return where that is."""
        while at < len(content):
            taken = self._span(content, at, styles)
            if taken > at:
                at = taken
                continue
            self._add(content[at], styles)
            at += 1
            if content[at - 1] == "\n" and not to_end:
                break
        return at

    def _span(self, content: str, at: int, styles: frozenset[str]) -> int:
        if match := _FENCE.match(content, at):
            self._add(match.group(2), styles | {"pre", f"pre {match.group(1) or ''}"})
            return match.end()
        simple: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[str, set[str]]]], ...] = (
            (_CODE, lambda match: (_code_text(match.group(2)), {"code"})),
            (_ESCAPE, lambda match: (match.group(1), set())),
            (_AUTOLINK, lambda match: (match.group(1), {f"link {match.group(1)}"})),
            (_URL, lambda match: (match.group(), {f"link {match.group()}"})),
            (_MENTION, lambda match: (match.group(), {"mention"})),
        )
        for pattern, shown in simple:
            if match := pattern.match(content, at):
                text, more = shown(match)
                self._add(text, styles | more)
                return match.end()
        if match := _MASKED.match(content, at):
            self.inline(match.group(1), 0, styles | {f"link {match.group(2)}"}, to_end=True)
            return match.end()
        return self._pair(content, at, styles)

    def _pair(self, content: str, at: int, styles: frozenset[str]) -> int:
        best: tuple[int, str, str] | None = None
        for style, pattern in _PAIRS:
            if match := pattern.match(content, at):
                inner = next(group for group in match.groups() if group is not None)
                if best is None or match.end() > best[0]:
                    best = match.end(), style, inner
        if best is None:
            return at
        self.inline(best[2], 0, styles | {best[1]}, to_end=True)
        return best[0]

    def _add(self, text: str, styles: frozenset[str]) -> None:
        if self.runs and self.runs[-1].styles == styles:
            self.runs[-1] = Run(text=self.runs[-1].text + text, styles=styles)
        else:
            self.runs.append(Run(text=text, styles=styles))


def _code_text(inner: str) -> str:
    return inner[1:-1] if len(inner) > 2 and inner[0] == inner[-1] == " " and "`" in inner else inner
