"""What a crash run counted on one platform: from what people said and were shown, and what the database holds."""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

MAYBE_LOST = "may not have arrived"
REPEAT = "↻ Again, this may be a repeat:"
GIVEN_UP = "so I gave it up"
ANSWER = re.compile(r"You said: (w\d+x\d+)\b")
IS_UNKNOWN = "o.state = 'unknown' OR o.error = 'unknown, sent again'"
# What the demo says after a tool: it ran, failed, was refused, or nobody knows.
TOOL_ANSWER = re.compile(r"\S*write_note\S* (returned|failed|was )")


@dataclass(slots=True)
class Talk:
    """One person's side: the words said, those that asked for a tool apart."""

    plain: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one person was shown, counted against what they said.

    `missing` are plain words without an answer. A tool's answers carry no word of their own, so they are counted:
    `tools_missing` of those asked for.
    """

    answered: int
    doubled: tuple[str, ...]
    missing: tuple[str, ...]
    tools_missing: int
    told_missing: int
    given_up: int


def seen(talk: Talk, texts: Sequence[str]) -> Seen:
    """Hold what was shown (the texts of all messages shown now) against what was said.

    A message that says it may be a repeat is an answer like any other, but doubles none.
    """
    repeats = [text.removeprefix(REPEAT).lstrip() for text in texts if text.startswith(REPEAT)]
    firsts = [text for text in texts if not text.startswith(REPEAT)]
    answers, repeated = _answers(firsts), _answers(repeats)
    of_tools = sum(bool(TOOL_ANSWER.match(text)) for text in firsts)
    repeats_of_tools = sum(bool(TOOL_ANSWER.match(text)) for text in repeats)
    doubled = [word for word in talk.plain if answers[word] > 1]
    doubled += [f"an answer of a tool for {talk.tools[-1:]}"] * max(0, of_tools - len(talk.tools))
    missing = tuple(word for word in talk.plain if not answers[word] + repeated[word])
    tools_missing = max(0, len(talk.tools) - of_tools - repeats_of_tools)
    return Seen(
        answered=len(talk.plain) + len(talk.tools) - len(missing) - tools_missing,
        doubled=tuple(doubled),
        missing=missing,
        tools_missing=tools_missing,
        told_missing=sum(MAYBE_LOST in text for text in texts),
        given_up=sum(GIVEN_UP in text for text in texts),
    )


def _answers(texts: Sequence[str]) -> Counter[str]:
    return Counter(found[1] for text in texts if (found := ANSWER.match(text)))


def lost(talk: Talk, found: Seen, excused: AbstractSet[str]) -> list[str]:
    """What is neither answered nor excused: a word is excused only by its own turn, see `excused_words`."""
    words = [word for word in found.missing if word not in excused]
    tools = found.tools_missing - sum(word in excused for word in talk.tools)
    return words + [f"an answer of a tool to {talk.tools[-1:]}"] * max(0, tools)


def excused_words(database: Path) -> frozenset[str]:
    """The words whose turn has a piece of unknown outcome now, or was given up; of both the person is told.

    One that was shown again excuses nothing any more: it has to be there.
    """
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute(
            f"SELECT t.input FROM turns t WHERE t.error LIKE '%{GIVEN_UP}%' OR EXISTS (SELECT 1 FROM outbox o"
            " WHERE o.turn_id = t.id AND o.state = 'unknown' AND o.kind != 'notice')"
        ).fetchall()
    return frozenset(word for row in rows for word in re.findall(r"w\d+x\d+", row[0]))


@dataclass(slots=True, kw_only=True)
class Tally:
    """One row of the table; `sends` are messages that the platform was asked to show."""

    platform: str
    accepted: int = 0
    answered: int = 0
    told_missing: int = 0
    given_up: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unknown: int = 0
    sends: int = 0
    tools: int = 0
    tools_twice: list[str] = field(default_factory=list)
    cards: int = 0
    dead_cards: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """What must not be."""
        return [
            f"{self.platform}: {what} {case}"
            for what, cases in (
                ("lost", self.lost),
                ("doubled", self.doubled),
                ("tool run twice for", self.tools_twice),
                ("card without effect", self.dead_cards),
            )
            for case in cases
        ]

    def add(self, talk: Talk, found: Seen, excused: AbstractSet[str]) -> None:
        """Count one person in."""
        self.accepted += len(talk.plain) + len(talk.tools)
        self.tools += len(talk.tools)
        self.answered += found.answered
        self.told_missing += found.told_missing
        self.given_up += found.given_up
        self.lost += lost(talk, found, excused)
        self.doubled += found.doubled

    def row(self) -> str:
        """One line of the table."""
        share = f" ({self.unknown / self.sends:.1%})" if self.unknown else ""
        cells = (
            self.platform,
            self.accepted,
            self.answered,
            len(self.lost),
            len(self.doubled),
            f"{self.unknown} of {self.sends}{share}",
            self.told_missing,
            self.given_up,
            f"{len(self.tools_twice)} of {self.tools}",
            f"{self.cards - len(self.dead_cards)} of {self.cards}",
        )
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


HEADER = (
    "| platform | accepted | answered | lost | doubled | unknown pieces of those sent | told that one may be missing"
    " | given up, said so | tools run twice | cards that worked |\n|---|---|---|---|---|---|---|---|---|---|"
)


def unknown_pieces(database: Path, platform: str) -> int:
    """How many rows of a platform were ever of unknown outcome and could not be settled."""
    with closing(sqlite3.connect(database)) as conn:
        (found,) = conn.execute(
            "SELECT COUNT(*) FROM outbox o JOIN destinations d ON d.dest = o.dest"
            f" WHERE d.platform = ? AND ({IS_UNKNOWN})",
            (platform,),
        ).fetchone()
    return int(found)


def written_words(notes: Path) -> Counter[str]:
    """How often each word was written by the tool."""
    text = "".join(path.read_text() for path in notes.glob("*"))
    return Counter(re.findall(r"w\d+x\d+", text))
