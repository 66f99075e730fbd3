"""The parse mode MarkdownV2 with the server's own error sentences (TDLib, parse_markdown_v2, read 2026)."""

from dataclasses import dataclass

from .errors import ApiError, bad_request
from .text import Entity, utf16_length

RESERVED = "_*[]()~`>#+-=|{}.!"
_NAMES = {
    "bold": "Bold",
    "italic": "Italic",
    "underline": "Underline",
    "strikethrough": "Strikethrough",
    "spoiler": "Spoiler",
    "code": "Code",
    "pre": "Pre",
    "text_link": "TextUrl",
    "custom_emoji": "CustomEmoji",
    "blockquote": "BlockQuote",
}
_MARKS = (("||", "spoiler"), ("__", "underline"), ("_", "italic"), ("*", "bold"), ("~", "strikethrough"))


@dataclass(slots=True)
class _Open:
    """An entity whose end has not come yet."""

    type: str
    mark: str
    begin: int  # in UTF-16 units of the result
    at: int  # in characters of the source
    language: str = ""


def parse_markdown_v2(source: str) -> tuple[str, list[Entity]]:
    """Return the visible text and its entities.

    Raises:
        ApiError: 400 "can't parse entities: …" for an unescaped reserved character or an entity without end.
    """
    parser = _Parser(source)
    while parser.at < len(source):
        parser.step()
    parser.finish()
    return "".join(parser.out), parser.entities


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.out: list[str] = []
        self.units = 0
        self.open: list[_Open] = []
        self.entities: list[Entity] = []
        self.in_quote = False

    def step(self) -> None:
        """Take one character or one mark."""
        character = self.source[self.at]
        following = self.source[self.at + 1 : self.at + 2]
        inside = self.open[-1] if self.open else None
        if character == "\\" and following and 0 < ord(following) <= 126:
            self.emit(following, 2)
        elif inside and inside.type in {"code", "pre"}:
            if self.source.startswith(inside.mark, self.at):
                self.close(inside)
            elif character == "`":
                self.begin(character)  # a lone backtick within a fence begins inline code, as on the server
            else:
                self.emit(character, 1)
        elif character == "\n":
            self.line_end()
        elif character not in RESERVED:
            self.emit(character, 1)
        elif inside and inside.mark and self.closes(inside):
            self.close(inside)
        else:
            self.begin(character)

    def closes(self, inside: _Open) -> bool:
        """Whether the innermost entity ends here; a double underscore never ends an italic."""
        if inside.mark == "_" and self.source.startswith("__", self.at):
            return False
        return self.source.startswith(inside.mark, self.at)

    def begin(self, character: str) -> None:
        """Open an entity, or refuse a reserved character."""
        if self.source.startswith("```", self.at):
            self.begin_pre()
        elif character == "`":
            self.push("code", "`", 1)
        elif self.source.startswith("![", self.at):
            self.push("custom_emoji", "]", 2)
        elif character == "[":
            self.push("text_link", "]", 1)
        elif character == ">" and self.at == 0:
            self.in_quote = True
            self.push("blockquote", "", 1)
        else:
            for mark, kind in _MARKS:
                if self.source.startswith(mark, self.at):
                    self.push(kind, mark, len(mark))
                    return
            self.refuse(character)

    def begin_pre(self) -> None:
        """Open a code block; a word right after the fence is its language, one line break is dropped."""
        start = self.at
        self.at += 3
        end = self.at
        while end < len(self.source) and not self.source[end].isspace() and self.source[end] != "`":
            end += 1
        language = ""
        if end > self.at and end < len(self.source) and self.source[end] != "`":
            language, self.at = self.source[self.at : end], end
        if self.source[self.at : self.at + 1] == "\n":
            self.at += 1
        self.open.append(_Open("pre", "```", self.units, start, language))

    def line_end(self) -> None:
        """A line break ends a quote unless the next line begins with `>`, which may also begin one."""
        more = self.source.startswith(">", self.at + 1)
        if self.in_quote and not more:
            inside = self.open[-1]
            if inside.type != "blockquote":
                raise self.unclosed(inside)
            self.emit("\n", 1)
            self.in_quote = False
            self.add(self.open.pop(), {})
            return
        self.emit("\n", 2 if more else 1)
        if more and not self.in_quote:
            self.in_quote = True
            self.open.append(_Open("blockquote", "", self.units, self.at))

    def close(self, inside: _Open) -> None:
        """End the innermost entity."""
        self.open.pop()
        self.at += len(inside.mark)
        extra = {}
        if inside.type in {"text_link", "custom_emoji"}:
            shown = self.text_since(inside.begin)
            url = self.read_url() if self.source.startswith("(", self.at) else None
            if inside.type == "custom_emoji":
                if url is None or not url.startswith("tg://emoji?id="):
                    raise _error("Custom emoji entity must contain a tg://emoji URL")
                extra = {"custom_emoji_id": url.removeprefix("tg://emoji?id=")}
            else:
                extra = {"url": shown if url is None else url}
                if "." not in extra["url"] and "://" not in extra["url"]:
                    return  # no usable address: the text stays, the link goes
        elif inside.language:
            extra = {"language": inside.language}
        self.add(inside, extra)

    def read_url(self) -> str:
        """The address in parentheses; escapes count."""
        start = self.at = self.at + 1
        url = ""
        while self.at < len(self.source) and self.source[self.at] != ")":
            if self.source[self.at] == "\\" and self.at + 1 < len(self.source):
                self.at += 1
            url += self.source[self.at]
            self.at += 1
        if self.at >= len(self.source):
            raise _error(f"Can't find end of a URL at byte offset {self.byte(start)}")
        self.at += 1
        return url

    def finish(self) -> None:
        """End the source: a quote may stay open, nothing else."""
        if self.open and self.open[-1].type == "blockquote":
            self.add(self.open.pop(), {})
        if self.open:
            raise self.unclosed(self.open[-1])

    def emit(self, character: str, width: int) -> None:
        """Put one character into the result; it took `width` characters of the source."""
        self.out.append(character)
        self.units += utf16_length(character)
        self.at += width

    def push(self, kind: str, mark: str, width: int) -> None:
        """Open an entity whose mark is `width` characters long."""
        self.open.append(_Open(kind, mark, self.units, self.at))
        self.at += width

    def add(self, one: _Open, extra: dict[str, str]) -> None:
        """Record an entity that ends here, unless it is empty."""
        if self.units > one.begin:
            self.entities.append(
                Entity(type=one.type, offset=one.begin, length=self.units - one.begin, extra=extra)
            )

    def text_since(self, begin: int) -> str:
        """The result from a UTF-16 offset on."""
        length, parts = self.units - begin, []
        for character in reversed(self.out):
            if length <= 0:
                break
            length -= utf16_length(character)
            parts.append(character)
        return "".join(reversed(parts))

    def byte(self, at: int) -> int:
        """The byte offset of a character of the source."""
        return len(self.source[:at].encode())

    def refuse(self, character: str) -> None:
        """Raise the refusal of a reserved character."""
        raise _error(f"Character '{character}' is reserved and must be escaped with the preceding '\\'")

    def unclosed(self, one: _Open) -> ApiError:
        """The refusal of an entity without end."""
        name = "PreCode" if one.language else _NAMES[one.type]
        return _error(f"Can't find end of {name} entity at byte offset {self.byte(one.at)}")


def _error(reason: str) -> ApiError:
    return bad_request(f"can't parse entities: {reason}")
