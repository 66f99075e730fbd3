"""The replies that are being written now, by destination, and one step of showing them.

The destination's worker calls `show_more` when no row is due: rows go first, so one request is under way in a
chat at a time. Whatever goes wrong here is mended by the row's last edit, which is a row's affair.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import assert_never

import structlog

from gateway.adapter import Adapter, EditsMessages, StreamsNatively
from gateway.chunking import Growth
from gateway.delivery.ledger import Ledger
from gateway.delivery.manuscript import Grow, Manuscript, Open, Sheet, Sketch, Source, Step, end_of
from gateway.delivery.pacing import Pace, Pauses
from gateway.delivery.platforms import Platforms
from gateway.delivery.stream import INLINE_CHARS, Stream
from gateway.document import Document, is_blank
from gateway.errors import MessageRejected, RateLimited, SendError, TargetGone
from gateway.messages import OutboundMessage, Target
from gateway.store import outbox, previews
from gateway.store.outbox import Claimed, NotYet, dest_of
from gateway.store.tx import Tx, Work

log = structlog.get_logger()

# A native draft fades after half a minute (Bot API, sendMessageDraft, 2026): a model may pause for longer.
REFRESH_S = 20.0

Opening = Callable[[Tx], Claimed | NotYet | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing to show; look again after `seconds` (None: when woken)."""

    seconds: float | None


@dataclass(slots=True)
class _Chat:
    """What grows in one destination; the first stream is next."""

    pace: Pace
    streams: list[Stream] = field(default_factory=list)


class Live:
    """See the module; it is the `Stage` of every stream.

    `write` stores, however long that takes; `nudge` lets a destination's worker look again, if there is one.
    """

    def __init__(
        self,
        platforms: Platforms,
        ledger: Ledger,
        pauses: Pauses,
        *,
        write: Callable[[Work[None]], Awaitable[None]],
        nudge: Callable[[str], None],
        now_s: Callable[[], float],
        max_pieces: int,
    ) -> None:
        self._platforms = platforms
        self._ledger = ledger
        self._pauses = pauses
        self._write = write
        self._nudge = nudge
        self._now_s = now_s
        self._max_pieces = max_pieces
        self._chats: dict[str, _Chat] = {}
        self._of_row: dict[int, tuple[Stream, int]] = {}

    @property
    def dests(self) -> list[str]:
        """Where replies grow."""
        return list(self._chats)

    def grows_in(self, dest: str) -> bool:
        """Whether a reply is being shown there that may go on any moment."""
        chat = self._chats.get(dest)
        return chat is not None and any(not _is_full(stream) for stream in chat.streams)

    def appear(self, stream: Stream) -> Manuscript | None:
        """See `Stage`."""
        adapter = self._platforms.online(stream.place.target)
        if adapter is None or not adapter.capabilities.streaming:
            return None
        is_native = isinstance(adapter, StreamsNatively)
        if not is_native and not isinstance(adapter, EditsMessages):
            return None
        able = adapter.capabilities
        gap_s = able.edit_gap_of(stream.place.target) if able.edit_gap_of else able.edit_gap_s
        chat = self._chats.setdefault(stream.place.dest, _Chat(Pace(gap_s=gap_s)))
        chat.streams.append(stream)
        return Manuscript(
            measure=able.measure,
            limit=min(able.limit, able.edit_limit),
            is_native=is_native,
            ends_growth=able.ends_growth,
            most=self._max_pieces if able.file_limit_bytes else None,
        )

    def go_on(self, stream: Stream) -> None:
        """See `Stage`."""
        self._ledger.wake(stream.place.dest)

    def leave(self, stream: Stream) -> None:
        """See `Stage`."""
        chat = self._chats.get(stream.place.dest)
        if chat is not None and stream in chat.streams:
            chat.streams.remove(stream)
            if not chat.streams:
                del self._chats[stream.place.dest]
            self._nudge(stream.place.dest)

    async def show_more(self, dest: str) -> Opening | Wait | None:
        """Make one step in a destination; None if nothing grows there.

        A new message is not sent here: the opening is, in a transaction, its row as the next one to send.
        """
        chat = self._chats.get(dest)
        if chat is None:
            return None
        left_s = chat.pace.due_s - self._now_s()
        if left_s > 0:
            return Wait(seconds=left_s)
        for stream in list(chat.streams):
            step = await self._next_step(stream)
            if step is None:
                continue
            if stream in chat.streams:  # another one's turn
                chat.streams.remove(stream)
                chat.streams.append(stream)
            if isinstance(step, Open):
                _asked(chat, stream, self._now_s())
                return self._opening(stream, step)
            await self._show(chat, stream, step)
            return Wait(seconds=0)
        return Wait(seconds=REFRESH_S if any(map(_refresh, chat.streams)) else None)

    def stand(self, tx: Tx, turn_id: int) -> None:
        """Make a message of what a turn only sketched, in the caller's transaction: what is queued next is below it."""
        for stream in [one for chat in self._chats.values() for one in chat.streams]:
            manuscript = stream.manuscript
            if stream.place.turn_id != turn_id or stream.is_closed or manuscript is None:
                continue
            body, number = manuscript.last_sketch, len(manuscript.sheets)
            if body is not None:
                row = previews.begin(
                    tx, stream.place.draft(number, body, self._ledger.new_key()), self._ledger.now_ms()
                )
                step = Open(number=number, body=body, upto=0, edition=manuscript.edition)
                tx.after_commit(partial(self._stands, stream, step, row))

    def _stands(self, stream: Stream, step: Open, row: previews.Preview | None) -> None:
        if stream.manuscript is not None and len(stream.manuscript.sheets) == step.number:
            self._opened(stream, step, row)
        self._ledger.wake(stream.place.dest)

    async def newest(self, item: Claimed) -> Claimed:
        """A row that still grows as it is to be sent now: it may have waited since it was made."""
        stream, number = self._of_row.get(item.id, (None, 0))
        manuscript = stream.manuscript if stream and not stream.is_closed else None
        # What may have been shown already is looked for as it was.
        is_unsure = item.unsure_since_ms is not None
        if item.attempts == 1 or is_unsure or not item.message.growing or manuscript is None:
            return item
        source = manuscript.source()
        growth = await _cut(manuscript, source)
        piece = growth.pieces[number] if number < len(growth.pieces) else None
        is_sketch = manuscript.is_native and number >= len(growth.cuts)
        if piece is None or is_blank(piece) or is_sketch or not manuscript.is_all(source):
            return item
        manuscript.look(source, growth)
        manuscript.sees(number, None, end_of(number, source, growth), source.edition)
        return replace(item, message=replace(item.message, body=piece))

    def shows(self, item: Claimed) -> bool:
        """Whether a row's last edit would change nothing: the growth edit under way at the end was that already."""
        stream, number = self._of_row.get(item.id, (None, 0))
        if not item.ends_stream or stream is None or stream.manuscript is None:
            return False
        return stream.manuscript.stands(number, item.message.body)

    def sent(self, item: Claimed, message_id: str) -> None:
        """A growing row is shown."""
        stream, number = self._of_row.get(item.id, (None, 0))
        if stream is None or stream.manuscript is None:
            return
        sheet = stream.manuscript.sheets[number]
        sheet.message_id = message_id
        # After a try of unknown outcome it may be an older text that is there.
        sheet.shown = item.message.body if item.attempts == 1 else None
        stream.is_plain |= item.message.plain

    def unsent(self, item: Claimed, *, is_unknown: bool) -> None:
        """A growing row was refused, or nobody knows whether it is shown: then the rest begins a new message."""
        stream, number = self._of_row.get(item.id, (None, 0))
        if stream is None or stream.manuscript is None:
            return
        if is_unknown:
            stream.manuscript.lost(number)
        else:
            stream.is_given_up = True

    async def rest_of(self, item: Claimed) -> Document | None:
        """What is missing in a message that takes its last edit no more; all of it if nobody remembers."""
        stream, number = self._of_row.get(item.id, (None, 0))
        if stream is None or stream.manuscript is None or stream.ended is None:
            return item.message.body
        rest = await asyncio.to_thread(stream.manuscript.rest_of, number, stream.ended)
        return None if rest is None or is_blank(rest) else rest

    def forget(self, row_id: int) -> None:
        """See `Stage`."""
        self._of_row.pop(row_id, None)

    async def _next_step(self, stream: Stream) -> Step | None:
        manuscript = stream.manuscript
        while manuscript is not None and _may_grow(stream):
            source = manuscript.source()
            growth = await _cut(manuscript, source)
            step = manuscript.look(source, growth)
            if step is not None and not stream.is_closed:
                return step
            if _is_full(stream):
                break  # nothing is shown before its end, and nobody need look
            if manuscript.is_all(source):
                stream.wait_for_more()
                break
        return None

    def _opening(self, stream: Stream, step: Open) -> Opening:
        dest = stream.place.dest
        draft = stream.place.draft(step.number, step.body, self._ledger.new_key())

        def work(tx: Tx) -> Claimed | NotYet | None:
            # Read here: a response that was recorded meanwhile has its last text in the store by now.
            if not stream.is_closed:
                row = previews.begin(tx, draft, self._ledger.now_ms())
                tx.after_commit(lambda: self._opened(stream, step, row))
            return self._ledger.claim(tx, dest)

        return work

    def _opened(self, stream: Stream, step: Open, row: previews.Preview | None) -> None:
        manuscript = stream.manuscript
        assert manuscript is not None
        if row is None:  # an earlier run's row that has its last text: not this response's to change
            stream.is_given_up = True
            return
        is_ours = row.message_id is None
        manuscript.last_sketch = None
        manuscript.sheets.append(
            Sheet(
                row_id=row.id,
                message_id=row.message_id,
                upto=step.upto if is_ours else 0,
                edition=step.edition,
            )
        )
        self._of_row[row.id] = (stream, step.number)

    async def _show(self, chat: _Chat, stream: Stream, step: Grow | Sketch) -> None:
        manuscript, place = stream.manuscript, stream.place
        adapter = self._platforms.online(place.target)
        if manuscript is None or adapter is None:
            return
        stream.busy = step.number if isinstance(step, Grow) else None
        try:
            await _request(adapter, stream, manuscript, step)
        except SendError as error:
            await self._failed(chat, stream, step, error)
        except Exception:
            # An adapter's bug: the reply is shown when it is whole.
            log.exception("delivery.adapter_failed", platform=adapter.platform)
            stream.is_given_up = True
        finally:
            stream.busy = None
        if not isinstance(step, Sketch) or manuscript.is_native:
            _asked(chat, stream, self._now_s())

    async def _failed(self, chat: _Chat, stream: Stream, step: Grow | Sketch, error: SendError) -> None:
        manuscript, place = stream.manuscript, stream.place
        assert manuscript is not None
        if not isinstance(step, Sketch):
            log.info("delivery.growth_failed", turn=place.turn_id, reason=str(error))
        match error:
            case RateLimited():
                chat.pace.slow_down()
                await self._pause(place.dest, error.retry_after_s)
            case TargetGone():
                stream.is_given_up = True
                await self._write(lambda tx: self._gone(tx, place.target, error))
            case MessageRejected(markup=True) if not stream.is_plain:
                stream.is_plain = True
            case MessageRejected() if isinstance(step, Sketch):
                manuscript.is_native = False  # not to this target: it grows by edits
                adapter = self._platforms.online(place.target)
                stream.is_given_up = not isinstance(adapter, EditsMessages)
            case MessageRejected() if isinstance(step, Grow):
                manuscript.lost(step.number)
            case _:
                chat.pace.slow_down()
                if isinstance(step, Grow):
                    sheet = manuscript.sheets[step.number]
                    manuscript.sees(step.number, None, sheet.upto, sheet.edition)

    def _gone(self, tx: Tx, target: Target, error: TargetGone) -> None:
        if error.moved_to is not None:
            self._ledger.move_chat(tx, target, error.moved_to)
        else:
            outbox.mark_gone(tx, dest_of(target), str(error))

    async def _pause(self, dest: str, wait_s: float) -> None:
        now_ms = self._ledger.now_ms()
        until_ms = now_ms + int(wait_s * 1000)
        self._pauses.add(dest, now_ms, until_ms)
        await self._write(lambda tx: outbox.pause(tx, dest, now_ms, until_ms))


async def _request(adapter: Adapter, stream: Stream, manuscript: Manuscript, step: Grow | Sketch) -> None:
    message = OutboundMessage(
        target=stream.place.target,
        body=step.body,
        idem_key="",
        plain=stream.is_plain,
        growing=not (isinstance(step, Grow) and step.is_last),
    )
    match step:
        case Sketch():
            assert isinstance(adapter, StreamsNatively)
            await adapter.stream(stream.place.turn_id, message)
            manuscript.sketched = manuscript.last_sketch = step.body
        case Grow():
            assert isinstance(adapter, EditsMessages)
            message_id = manuscript.sheets[step.number].message_id
            assert message_id is not None
            await adapter.edit(message_id, message)
            manuscript.sees(step.number, step.body, step.upto, step.edition)
            manuscript.sheets[step.number].is_ended |= step.is_last
        case _ as never:
            assert_never(never)


async def _cut(manuscript: Manuscript, source: Source) -> Growth:
    if len(source.text) <= INLINE_CHARS:
        return manuscript.cut(source)
    return await asyncio.to_thread(manuscript.cut, source)


def _asked(chat: _Chat, stream: Stream, now_s: float) -> None:
    assert stream.manuscript is not None
    chat.pace.asked(now_s, stream.manuscript.length)


def _may_grow(stream: Stream) -> bool:
    return not (stream.is_closed or stream.is_given_up or _is_full(stream))


def _is_full(stream: Stream) -> bool:
    return stream.manuscript is not None and stream.manuscript.is_full


def _refresh(stream: Stream) -> bool:
    """Whether the stream shows a sketch, which has to be shown again before it fades."""
    if stream.manuscript is None or stream.manuscript.sketched is None or stream.is_closed:
        return False
    stream.manuscript.sketched = None
    return True
