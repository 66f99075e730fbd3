"""What Discord's clients show of a message, as HTML: its content, read by the client's rules in their order."""

import re
from collections.abc import Callable
from html import escape
from typing import Final

from adapters.discord.render import MAX_TEXT, render
from gateway.document import Document

LIMIT: Final = MAX_TEXT
"""Of one message, as `render.measure` counts."""

_Shown = Callable[[re.Match[str]], str]


def show(piece: Document) -> str:
    """Return the HTML of the message that a piece becomes."""
    return _lines(render(piece))


def _lines(content: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(content):
        if quoted := _QUOTE.match(content, at):
            inner = "".join(line.removeprefix("> ") for line in quoted.group().splitlines(keepends=True))
            parts.append(f"<blockquote>{_lines(inner.rstrip())}</blockquote>")
            at = quoted.end()
        elif fence := _FENCE.match(content, at):
            parts.append(f"<pre>{escape(fence.group(1))}</pre>")
            at = fence.end()
        elif heading := _HEADING.match(content, at):
            level = len(heading.group(1))
            parts.append(f"<h{level}>{_inline(heading.group(2))}</h{level}>")
            at = heading.end()
        else:
            end = content.find("\n", at) + 1 or len(content)
            # bullets are the client's own sign; the indentation is what was sent
            parts.append(_inline(_BULLET.sub(r"\1• ", content[at:end], count=1)))
            at = end
    return "".join(parts)


_QUOTE = re.compile(r"(?:> .*(?:\n|$))+")
_FENCE = re.compile(r"```(?:[\w+.#-]+\n)?\n*([^\n][\s\S]*?)\n*```\n?")
_HEADING = re.compile(r"(#{1,3}) +(.*)\n?")
_BULLET = re.compile(r"^( *)- ")


def _inline(text: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(text):
        for pattern, shown in _RULES:
            if match := pattern.match(text, at):
                parts.append(shown(match))
                at = match.end()
                break
        else:
            parts.append(escape(text[at]))
            at += 1
    return "".join(parts)


def _tagged(tag: str, css: str = "") -> _Shown:
    opening = f'<{tag} class="{css}">' if css else f"<{tag}>"
    return lambda match: f"{opening}{_inline(match.group(1))}</{tag}>"


def _code(match: re.Match[str]) -> str:
    return f"<code>{escape(match.group(2).strip(' ') or match.group(2))}</code>"


def _masked(match: re.Match[str]) -> str:
    return f'<a href="{escape(match.group(2))}">{_inline(match.group(1))}</a>'


def _address(match: re.Match[str]) -> str:
    return f'<a href="{escape(match.group(1))}">{escape(match.group(1))}</a>'


_RULES: Final[tuple[tuple[re.Pattern[str], _Shown], ...]] = (
    (re.compile(r"\\([^0-9A-Za-z\s])"), lambda match: escape(match.group(1))),
    (re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)"), _code),
    (re.compile(r"<(https?://[^ >]+)>"), _address),
    (re.compile(r"(https?://[^\s<]+[^<.,:;\"')\]\s])"), _address),
    (re.compile(r"\[((?:\\.|[^\[\]\\])*)\]\(<([^\s<>]*)>\)"), _masked),
    (re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)"), _tagged("b")),
    (re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)"), _tagged("u")),
    (re.compile(r"\*(?=\S)((?:\*\*|\s+(?:[^*\s]|\*\*)|[^\s*])+?)\*(?!\*)"), _tagged("i")),
    (re.compile(r"\b_((?:__|\\[\s\S]|[^\\_])+?)_\b"), _tagged("i")),
    (re.compile(r"~~([\s\S]+?)~~"), _tagged("s")),
    (re.compile(r"\|\|([\s\S]+?)\|\|"), _tagged("span", "spoiler")),
)
