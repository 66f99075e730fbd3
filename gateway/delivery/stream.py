"""One response on its way to people: fed while the model writes, ended by its recorded text or by the turn's end.

`turns` feeds it and writes its end in its own transactions; `live` shows it meanwhile. A response that is whole
before anyone would have seen it grow costs nothing here: it is queued as any other message is.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.adapter import Capabilities
from gateway.chunking import split
from gateway.delivery.enclosing import ANSWER_CAPTION, Enclosed, enclosed
from gateway.delivery.ledger import Ledger
from gateway.delivery.manuscript import Manuscript, Source
from gateway.document import Document, is_blank, parse, text_document
from gateway.messages import Author, OutboundFile, Target
from gateway.store import previews
from gateway.store.outbox import Draft, dest_of
from gateway.store.tx import Tx

# A reply is first shown when it has this many characters after the first look, or whatever it has a little later.
FIRST_CHARS = 80
FIRST_LOOK_S = 0.5
SECOND_LOOK_S = 0.5

# Above this size parsing and splitting leave the event loop's thread.
INLINE_CHARS = 20_000

INCOMPLETE = "*(This answer is not complete.)*"
WITHDRAWN = "(This part was withdrawn.)"

_NEVER = 1 << 62

_SIGN = re.compile(r"[!-/:-@\[-`{-~]")  # ASCII punctuation: what a backslash makes literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose response it is and where it goes.

    Attributes:
        prefix: Names the response within its turn; its messages are the parts `prefix.0`, `prefix.1` and so on.
        reply_to: The message that the first of them answers.
        is_resumed: An earlier run of the turn may have shown some of it already.
        author: Who speaks, if there are several who could.
        reader_id: Whom it answers.
    """

    target: Target
    turn_id: int
    prefix: str
    reply_to: str | None = None
    is_resumed: bool = False
    author: Author | None = None
    reader_id: str | None = None

    @property
    def dest(self) -> str:
        """The destination's name in the outbox."""
        return dest_of(self.target)

    def draft(self, number: int, body: Document, idem_key: str) -> Draft:
        """The row of one message."""
        return Draft(
            target=self.target,
            kind="text",
            body=body,
            idem_key=idem_key,
            reply_to=self.reply_to if number == 0 else None,
            turn_id=self.turn_id,
            part=f"{self.prefix}.{number}",
            author=self.author,
            reader_id=self.reader_id,
        )

    def enclosure(self, file: OutboundFile, idem_key: str) -> Draft:
        """The row of the file with the whole of an answer of which the beginning is shown."""
        return Draft(
            target=self.target,
            kind="text",
            body=text_document(ANSWER_CAPTION),
            idem_key=idem_key,
            turn_id=self.turn_id,
            part=f"{self.prefix}.file",
            file=file,
            author=self.author,
        )


class Stage(Protocol):
    """Where a stream is shown while it grows."""

    def appear(self, stream: "Stream") -> Manuscript | None:
        """The stream has something to show; None if this target shows no reply before it is whole."""
        ...

    def go_on(self, stream: "Stream") -> None:
        """There is more to show."""
        ...

    def leave(self, stream: "Stream") -> None:
        """Nothing is added any more."""
        ...

    def forget(self, row_id: int) -> None:
        """Nothing more is to be done for this row of a stream."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The last text of a response, as messages: None for one that stands as it is.

    `may_be_shown`: some of it may be in the chat already. `if_shown`: it is worth saying only then. `enclosed`: it is
    too long to be kind; what was begun is shown whole, or else a beginning, and then all of it as a file.
    """

    place: Place
    pieces: tuple[Document | None, ...]
    ledger: Ledger
    may_be_shown: bool = False
    if_shown: bool = False
    enclosed: Enclosed | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return not self.pieces

    def post(self, tx: Tx) -> None:
        """Queue it in the caller's transaction: what is shown already is edited, the rest is sent."""
        place, ledger = self.place, self.ledger
        rows = previews.of_turn(tx, place.turn_id) if self.may_be_shown else []
        known = {row.part: row for row in rows if row.part.startswith(f"{place.prefix}.")}
        if self.if_shown and not known:
            return
        for number, piece in enumerate(self._shown(len(known))):
            row = known.pop(f"{place.prefix}.{number}", None)
            if row is not None:
                previews.finish(tx, row.id, piece, ledger.now_ms())
            elif piece is not None:
                ledger.post(tx, place.draft(number, piece, ledger.new_key()))
        for row in known.values():  # a later attempt was shorter than what an earlier one had shown
            previews.finish(tx, row.id, None if row.state == "queued" else _WITHDRAWN, ledger.now_ms())
        if self.enclosed is not None:
            ledger.post(tx, place.enclosure(self.enclosed.file, ledger.new_key()))
        if self.may_be_shown:
            tx.after_commit(lambda: ledger.wake(place.dest))

    def _shown(self, begun: int) -> tuple[Document | None, ...]:
        """The messages of it, `begun` of which are there already."""
        if self.enclosed is None:
            return self.pieces
        return self.pieces[:begun] if begun else (self.enclosed.opening,)


_WITHDRAWN = text_document(WITHDRAWN)


class Stream:
    """See the module. `feed` and `take_back` are for the hot path: they keep, and at most start a timer."""

    def __init__(
        self,
        place: Place,
        stage: Stage,
        ledger: Ledger,
        capabilities: Callable[[], Capabilities],
        *,
        max_pieces: int,
    ) -> None:
        shows_author = capabilities().shows_authors
        self.place = place if shows_author else replace(place, author=None)
        self._byline = "" if shows_author or place.author is None else byline(place.author)
        self.manuscript: Manuscript | None = None
        self.is_closed = False
        self.is_given_up = False  # nothing more of it is shown before its end
        self.is_plain = False  # the platform refused its formatting
        self.busy: int | None = None  # the message that is being edited now
        self.ended: Source | None = None
        self._stage = stage
        self._ledger = ledger
        self._capabilities = capabilities
        self._max_pieces = max_pieces
        self._early: list[str] = []
        self._length = 0
        self._alarm = 0
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, text: str) -> None:
        """The model wrote more."""
        if not self._length:
            text = self._byline + text
        self._length += len(text)
        if self.manuscript is None:
            self._early.append(text)
        else:
            self.manuscript.add(text)
        if self._length > self._alarm:
            self._alarm = _NEVER
            self._rouse()

    def take_back(self) -> None:
        """What was fed is void; the next words replace it in place."""
        self._early, self._length = [], 0
        if self.manuscript is not None:
            self.is_given_up |= not self.manuscript.take_back()
            self._alarm = 0

    def wait_for_more(self) -> None:
        """All so far is shown: the stage is to be called at the next word."""
        self._alarm = self._length

    def close(self) -> None:
        """Nothing is fed or shown any more."""
        if self.is_closed:
            return
        self.is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self.manuscript is not None:
            self._stage.leave(self)

    async def complete(self, text: str) -> Ending:
        """The response was recorded with this text; post the ending in the transaction that stores it."""
        self.close()
        if text.strip():
            text = self._byline + text
        if len(text) > INLINE_CHARS:
            return await asyncio.to_thread(self._ending, text)
        return self._ending(text)

    def abandon(self, text: str = "") -> Ending | None:
        """The turn ends without this response: what was shown of it is marked; None if nothing was.

        `text` is what an earlier run of the turn may have shown of it.
        """
        self.close()
        if self.manuscript is None:
            return self._ending(_incomplete(self._byline + text), if_shown=True) if text else None
        words = self.manuscript.last_words()
        if not (self.manuscript.sheets or self.manuscript.last_sketch) or is_blank(parse(words.text)):
            return None
        return self._shown_ending(
            Source(text=_incomplete(words.text), cuts=words.cuts, edition=words.edition)
        )

    def _ending(self, text: str, *, if_shown: bool = False) -> Ending:
        if self.manuscript is not None:
            source = self.manuscript.source()
            cuts = source.cuts if text.startswith(source.text) else ()
            return self._shown_ending(Source(text=text, cuts=cuts, edition=source.edition))
        able, is_resumed = self._capabilities(), self.place.is_resumed
        # What an earlier run may have shown is edited, and editing may take less than sending.
        limit = min(able.limit, able.edit_limit) if is_resumed else able.limit
        pieces = split(parse(text), able.measure, limit)
        if not pieces and not if_shown and text.strip():
            # Markdown that shows nothing (`<br>`, an empty fence): better its source than silence.
            pieces = split(text_document(text), able.measure, limit)
        return Ending(
            place=self.place,
            pieces=pieces,
            ledger=self._ledger,
            may_be_shown=is_resumed,
            if_shown=if_shown,
            enclosed=self._enclosed(text, len(pieces), limit),
        )

    def _shown_ending(self, source: Source) -> Ending:
        assert self.manuscript is not None
        growth = self.manuscript.cut(source)
        self.ended = Source(text=source.text, cuts=growth.cuts, edition=source.edition)
        pieces = tuple(self._last(number, piece) for number, piece in enumerate(growth.pieces))
        for sheet, piece in zip(self.manuscript.sheets, pieces, strict=False):
            if piece is None:
                self._stage.forget(sheet.row_id)
        return Ending(
            place=self.place,
            pieces=pieces,
            ledger=self._ledger,
            may_be_shown=True,
            enclosed=self._enclosed(source.text, len(growth.pieces), self.manuscript.limit),
        )

    def _enclosed(self, text: str, pieces: int, limit: int) -> Enclosed | None:
        able = self._capabilities()
        if pieces <= self._max_pieces or not able.file_limit_bytes:
            return None
        return enclosed(text.removeprefix(self._byline), able, limit)

    def _last(self, number: int, piece: Document | None) -> Document | None:
        """A message's last text, or None if it needs none: it shows that already, or can show nothing else."""
        assert self.manuscript is not None
        if piece is None or is_blank(piece):
            return None
        if number >= len(self.manuscript.sheets):
            return piece
        stands = self.manuscript.stands(number, piece) and self.busy != number
        return None if self.manuscript.sheets[number].is_lost or stands else piece

    def _rouse(self) -> None:
        if self.manuscript is not None:
            self._stage.go_on(self)
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FIRST_LOOK_S, self._look, True)

    def _look(self, is_first: bool) -> None:
        if self.is_closed:
            return
        if is_first and self._length < FIRST_CHARS:
            self._timer = asyncio.get_running_loop().call_later(SECOND_LOOK_S, self._look, False)
            return
        self._timer = None
        if not self._length:  # taken back meanwhile: the next word starts anew
            self._alarm = 0
            return
        self.manuscript = self._stage.appear(self)
        if self.manuscript is not None:
            for text in self._early:
                self.manuscript.add(text)
            self._early = []
            self._stage.go_on(self)


def byline(author: Author) -> str:
    """The Markdown above the words of one of several agents: its name, in a line of its own."""
    return f"**{_SIGN.sub(_escaped, author.name)}**\n\n"


def _escaped(sign: re.Match[str]) -> str:
    return "\\" + sign[0]


def _incomplete(text: str) -> str:
    # A fence that is still open would swallow the mark.
    text = text.rstrip()
    return f"{text}\n```\n\n{INCOMPLETE}" if text.count("```") % 2 else f"{text}\n\n{INCOMPLETE}"
