"""The parse mode HTML with the server's own error sentences (TDLib, parse_html, read 2026)."""

import re
from dataclasses import dataclass, field
from html import unescape

from .errors import ApiError, bad_request
from .text import Entity, utf16_length

_KINDS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}
_TOKEN = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|lt|gt|amp|quot);?|</?|[^&<]+|&")
_ATTRIBUTE = re.compile(r"""\s*([^\s=>/]+)\s*(?:=\s*("[^"]*"|'[^']*'|[^\s>]*))?""")


@dataclass(slots=True)
class _Tag:
    name: str
    begin: int
    attributes: dict[str, str] = field(default_factory=dict)


def parse_html(source: str) -> tuple[str, list[Entity]]:
    """Return the visible text and its entities.

    Raises:
        ApiError: 400 "can't parse entities: …" for unknown, unmatched or unclosed tags.
    """
    parser = _Parser(source)
    while parser.at < len(source):
        parser.step()
    if parser.open:
        raise _error(f'Can\'t find end tag corresponding to start tag "{parser.open[-1].name}"')
    return "".join(parser.out), parser.entities


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.out: list[str] = []
        self.units = 0
        self.open: list[_Tag] = []
        self.entities: list[Entity] = []

    def step(self) -> None:
        """Take one run of text, one character reference or one tag."""
        token = _TOKEN.match(self.source, self.at)
        assert token is not None
        if token.group() == "<":
            self.start_tag()
        elif token.group() == "</":
            self.end_tag()
        else:
            text = (
                unescape(token.group())
                if len(token.group()) > 1 and token.group()[0] == "&"
                else token.group()
            )
            self.out.append(text)
            self.units += utf16_length(text)
            self.at = token.end()

    def start_tag(self) -> None:
        """Open a tag."""
        start = self.at
        end = self.source.find(">", start)
        name = re.match(r"[^\s>]*", self.source[start + 1 :]).group().lower()  # type: ignore[union-attr]
        if end < 0 and len(self.source) == start + 1 + len(name):
            raise _error(f"Unclosed start tag at byte offset {self.byte(start)}")
        if name not in _KINDS:
            raise _error(f'Unsupported start tag "{name}" at byte offset {self.byte(start)}')
        self.at = start + 1 + len(name)
        attributes = {}
        while not self.source.startswith(">", self.at):
            found = _ATTRIBUTE.match(self.source, self.at)
            if found is None:
                break
            attributes[found[1].lower()] = unescape((found[2] or "").strip("\"'"))
            self.at = found.end()
        self.at += len(self.source[self.at :]) - len(self.source[self.at :].lstrip())
        if not self.source.startswith(">", self.at):
            raise _error(f"Unclosed start tag at byte offset {self.byte(start)}")
        self.at += 1
        if name == "span" and attributes.get("class") != "tg-spoiler":
            raise _error(f'Tag "span" must have class "tg-spoiler" at byte offset {self.byte(start)}')
        self.open.append(_Tag(name, self.units, attributes))

    def end_tag(self) -> None:
        """Close the innermost tag."""
        start = self.at
        end = self.source.find(">", start)
        if not self.open:
            raise _error(f"Unexpected end tag at byte offset {self.byte(start)}")
        if end < 0:
            raise _error(f"Unclosed end tag at byte offset {self.byte(start)}")
        name = self.source[start + 2 : end].strip().lower()
        tag = self.open.pop()
        if name and name != tag.name:
            raise _error(
                f"Unmatched end tag at byte offset {self.byte(start)}, "
                f'expected "</{tag.name}>", found "</{name}>"'
            )
        self.at = end + 1
        if self.units > tag.begin:
            self.add(tag)

    def add(self, tag: _Tag) -> None:
        """Record the entity of a closed tag.

        `<pre><code class="language-x">` is one entity with a language.
        """
        kind, extra = _KINDS[tag.name], {}
        length = self.units - tag.begin
        if tag.name == "a":
            url = tag.attributes.get("href") or "".join(self.out)[-length:]
            if "." not in url and "://" not in url:
                return
            extra = {"url": url}
        elif tag.name == "tg-emoji":
            extra = {"custom_emoji_id": tag.attributes.get("emoji-id", "")}
        elif tag.name == "blockquote" and "expandable" in tag.attributes:
            kind = "expandable_blockquote"
        elif tag.name == "code" and self.open and self.open[-1].name == "pre":
            self.open[-1].attributes["language"] = tag.attributes.get("class", "").removeprefix("language-")
            return
        elif tag.name == "pre" and tag.attributes.get("language"):
            extra = {"language": tag.attributes["language"]}
        self.entities.append(Entity(type=kind, offset=tag.begin, length=length, extra=extra))

    def byte(self, at: int) -> int:
        """The byte offset of a character of the source."""
        return len(self.source[:at].encode())


def _error(reason: str) -> ApiError:
    return bad_request(f"can't parse entities: {reason}")
