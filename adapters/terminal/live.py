"""What is shown of a turn while it runs: a value that grows with each event, until the reply is shown.

Pure. The adapter feeds it from `gateway.api`; the console shows `tail` above the line being typed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from wcwidth import wcswidth

from adapters.terminal.text import printable

_RECENT = 6_000  # characters: what grows is drawn anew with each word, all of it would take ever longer

_STATUS = {"thinking": "thinking…", "waiting": "", "running_tool": "running a tool…", "done": ""}


class WatchedEvent(Protocol):
    """One event of a turn, as `gateway.api` hands it on; kinds and payloads are in `gateway.events`."""

    @property
    def turn_id(self) -> int:
        """The turn; each has its own sequence of events."""
        ...

    @property
    def idx(self) -> int:
        """The event's place in its turn, from 0."""
        ...

    @property
    def kind(self) -> str:
        """One of the kinds shown to clients."""
        ...

    @property
    def payload(self) -> Mapping[str, Any]:
        """The kind's own fields."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The running turn's text so far and one line on what it is doing.

    `parts` are the text pieces with their event's number, so that a `retract` can take back the latest.
    """

    turn_id: int | None = None
    parts: tuple[tuple[int, str], ...] = ()
    status: str = ""

    def after(self, event: WatchedEvent) -> "Live":
        """This turn with one more event; an event of another turn starts anew."""
        seen = self if event.turn_id == self.turn_id else Live(turn_id=event.turn_id)
        payload = event.payload
        match event.kind:
            case "text":
                return replace(
                    seen, parts=(*seen.parts, (event.idx, str(payload.get("text", "")))), status=""
                )
            case "retract":
                kept = tuple(part for part in seen.parts if part[0] < int(payload.get("from_idx", 0)))
                return replace(seen, parts=kept)
            case "status":
                return replace(seen, status=_STATUS.get(str(payload.get("status", "")), ""))
            case "tool":
                return replace(seen, status=f"{payload.get('name', 'tool')}: {payload.get('state', '')}")
            case "request" | "error":
                return replace(seen, status="")
            case "done":
                return seen.without_text()
            case _:
                return seen

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(text for _, text in self.parts)

    def without_text(self) -> "Live":
        """The turn after its text so far was shown for good."""
        return replace(self, parts=(), status="")

    def recent(self) -> str:
        """The Markdown of the text's end, far more of it than a screen holds; a fence that is cut is opened again."""
        text = self.text
        begin = text.find("\n\n", len(text) - _RECENT) if len(text) > _RECENT else -1
        if begin < 0:
            return text
        before = text[:begin].count("```") % 2
        return ("```\n" if before else "") + text[begin + 2 :]

    def tail(self, drawn: str, *, columns: int, rows: int) -> str:
        """The last lines that fit in `rows` of `columns` cells: of the text as drawn, then the status line."""
        status = printable(self.status).expandtabs(4)
        lines = (
            [*drawn.rstrip("\n").split("\n"), *_wrap(status, columns)] if drawn else _wrap(status, columns)
        )
        shown = lines if self.status else lines[:-1]
        return "\n".join(shown[-rows:]) if any(shown) else ""


def _wrap(line: str, columns: int) -> list[str]:
    """Cut a line into pieces of at most `columns` cells (a wide character counts two)."""
    if line.isascii():
        return [line[at : at + columns] for at in range(0, len(line), columns)] or [""]
    pieces, piece, used = [], "", 0
    for character in line:
        width = max(wcswidth(character), 0)
        if used + width > columns:
            pieces.append(piece)
            piece, used = "", 0
        piece += character
        used += width
    return [*pieces, piece]
