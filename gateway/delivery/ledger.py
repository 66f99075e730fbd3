"""Writes the outbox: what is queued, how a try ended, and what the reader is told of it.

Every method belongs to the caller's transaction. Neighbours: `turns`, `requests` and `intake` queue through
`sender.Delivery`, whose workers settle here.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

import structlog

from gateway.clock import Clock, to_ms
from gateway.delivery.outcomes import Again, Anew, Gone, Outcome, PlainAgain, Refused, Sent, Unknown
from gateway.delivery.pacing import Pauses
from gateway.delivery.platforms import Platforms
from gateway.document import Document, document, text_document
from gateway.messages import Button, OutboundMessage, Target
from gateway.store import moves, outbox, previews, requests
from gateway.store.outbox import SHOWN_AGAIN, Claimed, Draft, Kind, Letter, NotYet, dest_of, target_of
from gateway.store.tx import Tx

log = structlog.get_logger()

MAYBE_LOST = "A part of my last answer may not have arrived. /again shows it once more."
REPEAT = "↻ Again, this may be a repeat:"
PART_REFUSED = "A part of my last answer was refused by the platform and is missing here."

CARD_REFUSED = (
    "I need an answer from you, but the platform refused to show the card. /status says what about;"
    " /approve lets it happen once, /deny does not."
)

AGAIN = ":again:"
"""Stands in the `part` of a row that shows another one again, before that one's id."""

CARD_SHOWN_AGAIN_MOST = 3
"""A card whose every showing has an unknown outcome is left to /again then: the chat may be full of it."""


class Ledger:
    """See the module. After the commit, `wake` hears of a destination that has something to send.

    A row that finds its destination at rest (`is_at_rest`) is claimed where it is queued and given to `hand_over`:
    that saves a commit between an answer and its sending.
    """

    def __init__(
        self,
        platforms: Platforms,
        *,
        new_key: Callable[[], str],
        wake: Callable[[str], None],
        is_at_rest: Callable[[str], bool],
        hand_over: Callable[[str, Claimed], None],
        max_age_s: float,
        clock: Clock,
    ) -> None:
        self._platforms = platforms
        self.new_key = new_key
        self.wake = wake
        self._is_at_rest = is_at_rest
        self._hand_over = hand_over
        self._max_age_s = max_age_s
        self._clock = clock
        self._gaps = Pauses()  # between two new messages in one chat

    def post(self, tx: Tx, draft: Draft) -> int | None:
        """Queue a draft; it goes out after the commit. None: its part is there already."""
        dest = outbox.resolved(tx, dest_of(draft.target))
        at_rest = self._is_at_rest(dest) and not outbox.has_open(tx, dest)
        row_id = outbox.add(tx, draft, self.now_ms())
        claimed = self.claim(tx, dest) if at_rest else None
        if isinstance(claimed, Claimed):
            tx.after_commit(lambda: self._hand_over(dest, claimed))
        else:
            tx.after_commit(lambda: self.wake(dest))
        return row_id

    def post_notice(
        self,
        tx: Tx,
        target: Target,
        body: Document | str,
        *,
        reply_to: str | None = None,
        turn_id: int | None = None,
        part: str | None = None,
    ) -> None:
        """Queue a short message of the gateway itself."""
        self.post(
            tx,
            Draft(
                target=target,
                kind="notice",
                body=text_document(body) if isinstance(body, str) else body,
                idem_key=self.new_key(),
                reply_to=reply_to,
                turn_id=turn_id,
                part=part,
            ),
        )

    def show_again(self, tx: Tx, row_id: int, why: str = SHOWN_AGAIN) -> int | None:
        """Queue what a row that failed or may not have arrived was to show, as a row of its own; returns its id.

        One that may have arrived says that it may be a repeat. Its buttons are its own and mean the same: whichever
        message is pressed is the one that changes. The old row is closed (`why`); None if it was before.
        """
        found = outbox.letter(tx, row_id)
        if found is None or not outbox.close_letter(tx, row_id, why):
            return None
        outbox.mark_back(tx, found.message.target)
        return self.post(
            tx,
            Draft(
                target=found.message.target,
                kind=found.kind,
                body=self._marked(tx, found.message) if found.is_unknown else found.message.body,
                buttons=self._own_buttons(tx, found.message),
                file=found.message.file,
                author=found.message.author,
                reader_id=found.message.reader_id,
                idem_key=self.new_key(),
                turn_id=found.turn_id,
                part=f"{found.part}{AGAIN}{row_id}",
                request_id=found.request_id,
            ),
        )

    def _marked(self, tx: Tx, message: OutboundMessage) -> Document:
        """A body that says it may be a repeat; where that does not fit, a message before it says so."""
        mark = text_document(REPEAT).blocks
        if message.body.blocks[: len(mark)] == mark:
            return message.body
        marked = document(*mark, *message.body.blocks)
        capabilities = self._platforms.capabilities(message.target)
        if message.file is None and capabilities.measure(marked) <= capabilities.limit:
            return marked
        self.post_notice(tx, message.target, REPEAT)
        return message.body

    def _own_buttons(self, tx: Tx, message: OutboundMessage) -> tuple[tuple[Button, ...], ...]:
        return tuple(tuple(self._own_button(tx, button) for button in line) for line in message.buttons)

    def _own_button(self, tx: Tx, button: Button) -> Button:
        kind, colon, _ = button.token.rpartition(":")
        token = f"{kind}{colon}{self.new_key()}"
        return (
            replace(button, token=token) if requests.copy_button(tx, button.token, as_token=token) else button
        )

    def claim(self, tx: Tx, dest: str) -> Claimed | NotYet | None:
        """Take the destination's next row, `sending` from now on; one that has moved is woken under its new name."""
        if (moved := outbox.resolved(tx, dest)) != dest:
            tx.after_commit(lambda: self.wake(moved))
            return None
        now_ms = self.now_ms()
        return outbox.claim(
            tx,
            dest,
            now_ms,
            max_age_ms=int(self._max_age_s * 1000),
            sends_from_ms=self._gaps.until(dest, now_ms) or 0,
        )

    def recover(self, tx: Tx) -> int:
        """Settle what a dead process left in `sending`; returns how many rows that were."""
        rows: Sequence[tuple[int, str, Kind, int | None]] = outbox.interrupted(tx)
        for row_id, dest, kind, turn_id in rows:
            capabilities = self._platforms.capabilities(target_of(dest))
            if kind == "edit" or capabilities.idempotency != "none":
                outbox.retry(tx, row_id, at_ms=self.now_ms(), error="interrupted", unsure=True)
            else:
                self._mark_unknown(tx, row_id, dest, kind, turn_id, "interrupted by a crash")
        return len(rows)

    def settle(self, tx: Tx, dest: str, item: Claimed, outcome: Outcome) -> None:
        """Write down how a try ended."""
        now_ms = self.now_ms()
        self._keep_gap(dest, item, outcome, now_ms)
        match outcome:
            case Sent(message_id=str() as message_id) if item.message.growing or outcome.is_old:
                previews.shown(tx, item.id, message_id, now_ms)
            case Sent():
                outbox.settle(tx, item.id, state="sent", platform_msg_id=outcome.message_id, now_ms=now_ms)
            case Again():
                self._retry(tx, dest, item, outcome, now_ms)
            case PlainAgain():
                log.warning("delivery.markup_refused", row=item.id, turn=item.turn_id)
                outbox.strip_markup(tx, item.id)
            case Anew():
                if outcome.rest is None:
                    outbox.send_anew(tx, item.id)
                else:
                    previews.send_rest(tx, item.id, outcome.rest, self.new_key())
            case Unknown():
                if item.message.growing:  # which may have been more than the row was made with
                    previews.write(tx, item.id, item.message.body)
                self._mark_unknown(tx, item.id, dest, item.kind, item.turn_id, outcome.error)
            case Refused():
                log.warning("delivery.refused", row=item.id, turn=item.turn_id, reason=outcome.error)
                outbox.settle(tx, item.id, state="failed", error=outcome.error, now_ms=now_ms)
                self._tell_refused(tx, item, outcome.instead)
            case Gone(moved_to=str() as new_id):
                outbox.retry(tx, item.id, at_ms=now_ms, error=outcome.error)
                self.move_chat(tx, item.message.target, new_id)
            case Gone():
                log.warning("delivery.target_gone", dest=dest, reason=outcome.error)
                outbox.settle(tx, item.id, state="failed", error=outcome.error, now_ms=now_ms)
                outbox.mark_gone(tx, dest, outcome.error)
            case _ as never:
                assert_never(never)

    def move_chat(self, tx: Tx, old: Target, new_id: str) -> None:
        """A chat goes by another id from now on: conversations and what is to be sent go with it."""
        log.warning("delivery.chat_moved", platform=old.platform, chat=old.chat_id, moved_to=new_id)
        for dest in moves.move_chat(tx, old, new_id):
            tx.after_commit(partial(self.wake, dest))

    def now_ms(self) -> int:
        """The time as the outbox keeps it."""
        return to_ms(self._clock())

    def _tell_refused(self, tx: Tx, item: Claimed, instead: Sequence[Document]) -> None:
        target = item.message.target
        for body in instead:
            self.post(
                tx,
                Draft(target=target, kind="text", body=body, idem_key=self.new_key(), turn_id=item.turn_id),
            )
        if instead:
            return
        if item.kind == "text" and not item.message.growing:  # its last text may pass
            self.post_notice(tx, target, PART_REFUSED, turn_id=item.turn_id, part="notice:refused")
        if item.kind == "card":
            self.post_notice(tx, target, CARD_REFUSED)

    def _keep_gap(self, dest: str, item: Claimed, outcome: Outcome, now_ms: int) -> None:
        if item.edits is not None or not isinstance(outcome, Sent | Unknown):
            return
        gap_s = self._platforms.capabilities(item.message.target).send_gap_s
        self._gaps.add(dest, now_ms, now_ms + int(gap_s * 1000))

    def _retry(self, tx: Tx, dest: str, item: Claimed, outcome: Again, now_ms: int) -> None:
        at_ms = now_ms + int(outcome.wait_s * 1000)
        created = tx.row("SELECT created_at FROM outbox WHERE id = :id", id=item.id)
        assert created is not None
        if at_ms - created["created_at"] > self._max_age_s * 1000:
            outbox.settle(tx, item.id, state="failed", error=f"too old: {outcome.error}", now_ms=now_ms)
            return
        log.info(
            "delivery.retry_scheduled", row=item.id, wait_s=round(outcome.wait_s, 2), reason=outcome.error
        )
        outbox.retry(tx, item.id, at_ms=at_ms, error=outcome.error, unsure=outcome.unsure)
        if outcome.unsure and item.message.growing:
            previews.note_tried(tx, item.id, item.message.body)
        if outcome.whole_chat:
            outbox.pause(tx, dest, now_ms, at_ms)

    def _mark_unknown(
        self, tx: Tx, row_id: int, dest: str, kind: Kind, turn_id: int | None, why: str
    ) -> None:
        if outbox.has_arrived(tx, row_id):
            return
        log.warning("delivery.outcome_unknown", row=row_id, turn=turn_id, reason=why)
        outbox.settle(tx, row_id, state="unknown", error=why, now_ms=self.now_ms())
        if kind == "notice":  # a notice about a lost notice would go on for ever
            return
        letter = outbox.letter(tx, row_id)
        if letter is not None and letter.kind == "card" and self._card_again(tx, row_id, letter):
            return
        # Once for all parts of a turn; what was shown again and may be lost again is told again.
        part = f"notice:unknown:{row_id}" if letter is not None and AGAIN in letter.part else "notice:unknown"
        self.post_notice(tx, target_of(dest), MAYBE_LOST, turn_id=turn_id, part=part)

    def _card_again(self, tx: Tx, row_id: int, card: Letter) -> bool:
        """Show a card that still asks something again: a turn waits behind it, and two of it do no harm.

        The first valid press wins, on whichever. False: there is nothing to ask any more, or it was tried enough.
        """
        newer = outbox.queued_change(tx, row_id)
        if newer is not None:
            outbox.close_letter(tx, row_id, SHOWN_AGAIN)
            outbox.send_anew(tx, newer)
            return True
        asked = [requests.by_token(tx, button.token) for line in card.message.buttons for button in line]
        is_open = any(found is not None and found[0].state == "pending" for found in asked)
        if not is_open or card.part.count(AGAIN) >= CARD_SHOWN_AGAIN_MOST:
            return False
        log.info("delivery.card_shown_again", row=row_id, again=self.show_again(tx, row_id))
        return True
