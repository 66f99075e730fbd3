"""A reply while it is written, as messages: what was said, where it is cut, what of it people have seen (pure).

`look` says what is to be shown next: one step at a time, the oldest message first, so that a reader never sees
the next message begin before this one is whole. What the step came to is told by `opened`, `sees`, `lost`.
"""

from dataclasses import dataclass, field

from gateway.chunking import Growth, Measure, grow
from gateway.document import Document, is_blank
from gateway.document.build import literal


@dataclass(slots=True, kw_only=True)
class Sheet:
    """One message of the reply.

    Attributes:
        row_id: Its row in the outbox.
        message_id: None until the platform has named it.
        shown: What it certainly shows; None if that is not known.
        upto: The offset in the source up to which its reader has seen the reply.
        edition: Of which edition of the text.
        is_lost: It cannot be changed any more, or nobody knows whether it is there.
        is_ended: It was told to be whole, where the platform wants to hear so.
    """

    row_id: int
    message_id: str | None = None
    shown: Document | None = None
    upto: int = 0
    edition: int = 0
    is_lost: bool = False
    is_ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text at one moment; another `edition` begins when it is taken back."""

    text: str
    cuts: tuple[int, ...]
    edition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Begin the message `number` with this text, which ends at `upto` in this edition of the source."""

    number: int
    body: Document
    upto: int
    edition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grow:
    """Change the message `number` to this text; `is_last`: it is whole, and the platform wants to hear so."""

    number: int
    body: Document
    upto: int
    edition: int
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """Show this text in the platform's own way: it is not a message yet."""

    body: Document


Step = Open | Grow | Sketch


@dataclass(slots=True, kw_only=True)
class Manuscript:
    """See the module. `limit` holds for sending and for editing; `is_native`: what grows is only sketched.

    A reply of more than `most` messages is shown up to there and then `is_full`: the rest is for a file.
    `ends_growth`: each message has to be told once that it is whole.
    """

    measure: Measure
    limit: int
    is_native: bool = False
    ends_growth: bool = False
    most: int | None = None
    is_full: bool = False
    sheets: list[Sheet] = field(default_factory=list)
    cuts: tuple[int, ...] = ()
    length: int = 0
    edition: int = 0
    sketched: Document | None = None
    last_sketch: Document | None = None  # which people may still see
    _parts: list[str] = field(default_factory=list)
    _void: Source | None = None

    def add(self, text: str) -> None:
        """More was said."""
        self._parts.append(text)
        self.length += len(text)

    def take_back(self) -> bool:
        """What was said is void, the messages will say something else; False if that cannot be done in place."""
        if self._parts:
            self._void = self.source()
        self._parts, self.length, self.cuts = [], 0, ()
        self.edition += 1
        self.is_full = False
        could = not any(sheet.is_lost for sheet in self.sheets)
        for sheet in self.sheets:
            sheet.upto, sheet.edition = 0, self.edition
            if sheet.is_lost:
                sheet.is_lost, sheet.shown = False, None
        return could

    def source(self) -> Source:
        """The text so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return Source(text=self._parts[0] if self._parts else "", cuts=self.cuts, edition=self.edition)

    def last_words(self) -> Source:
        """The text so far, or what was taken back and not replaced."""
        return self._void if self._void is not None and not self._parts else self.source()

    def cut(self, source: Source) -> Growth:
        """The messages that show a source (the only costly thing here; it changes nothing)."""
        return grow(source.text, source.cuts, self.measure, self.limit)

    def look(self, source: Source, growth: Growth) -> Step | None:
        """What is to be shown next of a source that was cut; None: all of it is, or it is out of date."""
        if (source.edition, source.cuts) != (self.edition, self.cuts):
            return None
        self.cuts = growth.cuts
        for number, piece in enumerate(growth.pieces[: self.most]):
            is_whole, upto = number < len(growth.cuts), end_of(number, source, growth)
            if number >= len(self.sheets):
                return self._next(number, piece, upto, is_whole=is_whole)
            sheet = self.sheets[number]
            if sheet.is_lost or piece is None or is_blank(piece):
                continue
            if sheet.message_id is None:
                return None  # its first send is under way, and what follows has to wait for it
            is_last = is_whole and self.ends_growth
            if sheet.shown != piece or (is_last and not sheet.is_ended):
                return Grow(number=number, body=piece, upto=upto, edition=self.edition, is_last=is_last)
        self.is_full = self.most is not None and len(growth.pieces) > self.most
        return None

    def is_all(self, source: Source) -> bool:
        """Whether nothing was said or taken back since."""
        return source.edition == self.edition and len(source.text) == self.length

    def _next(self, number: int, piece: Document | None, upto: int, *, is_whole: bool) -> Step | None:
        if piece is None or is_blank(piece):
            return None
        if not self.is_native or is_whole:
            return Open(number=number, body=piece, upto=upto, edition=self.edition)
        return None if self.sketched == piece else Sketch(body=piece)

    def sees(self, number: int, body: Document | None, upto: int, edition: int) -> None:
        """The message shows this now (None: it is there, but with which of its texts is not certain)."""
        sheet = self.sheets[number]
        sheet.shown, sheet.edition = body, edition
        sheet.upto = upto if edition == self.edition else 0

    def stands(self, number: int, body: Document) -> bool:
        """Whether the message shows this and needs no further edit."""
        sheet = self.sheets[number]
        is_whole = sheet.is_ended or not self.ends_growth
        return sheet.message_id is not None and sheet.shown == body and is_whole

    def lost(self, number: int) -> None:
        """The message stays as it is: what it does not show begins the next one."""
        sheet = self.sheets[number]
        if sheet.edition != self.edition:  # what it lacks of the new edition shows when that is tried
            return
        sheet.is_lost = True
        begin = self.cuts[number - 1] if number else 0
        is_read = number < len(self.cuts) and sheet.upto >= self.cuts[number]
        if number == len(self.sheets) - 1 and not is_read:
            self.cuts = (*self.cuts[:number], max(sheet.upto, begin))

    def rest_of(self, number: int, source: Source) -> Document | None:
        """What the message `number` of a finished source should show and does not."""
        begin = source.cuts[number - 1] if number else 0
        cuts = (*source.cuts[:number], max(self.sheets[number].upto, begin), *source.cuts[number:])
        pieces = self.cut(Source(text=source.text, cuts=cuts, edition=source.edition)).pieces
        return pieces[number + 1] if number + 1 < len(pieces) else None


def end_of(number: int, source: Source, growth: Growth) -> int:
    """Where in the source the message `number` ends."""
    return growth.cuts[number] if number < len(growth.cuts) else len(literal(source.text))
