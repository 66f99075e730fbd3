"""What people say to a turn while it runs: taken out of the lane and made the turn's own, in one transaction.

The agent asks before each send (`agent.ports.Hear`). Messages that wait in the lane to be taken over (queue mode
`steer`) and newer texts of edited ones become `steered` events; whoever steered is told so by a short note.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.clock import Clock, to_ms
from gateway.delivery import Delivery
from gateway.store import messages, pending
from gateway.store.inputs import TurnInputRow
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from gateway.turns.journal import Journal
from gateway.turns.wording import denied_because, for_model, newer

TAKEN_OVER = "I take this into what I am working on."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ear:
    """One running turn's `Hear`."""

    claim: Claim
    journal: Journal
    database: Store
    delivery: Delivery
    clock: Clock

    async def __call__(self) -> Sequence[str]:
        """What was said since the last time, in order; stored as the turn's own when this returns."""
        claim = self.claim
        now_ms = to_ms(self.clock())
        if not await self.database.read(
            lambda tx: pending.has_to_hear(tx, claim.fence, claim.requester, now_ms)
        ):
            return ()
        events = await self.journal.commit_made(self._take)
        return [payload["text"] for _, payload in events]

    def _take(self, tx: Tx) -> list[tuple[str, dict[str, Any]]]:
        claim, now_ms = self.claim, to_ms(self.clock())
        edits, taken = pending.hear(tx, claim.fence, claim.requester, now_ms)
        for key, text in edits.items():
            is_reason = key.startswith(pending.REASON)
            messages.add(
                tx,
                session_id=claim.session_id,
                turn_id=claim.turn_id,
                role="notice" if is_reason else "question",
                author="parley" if is_reason else claim.requester,
                body=denied_because(text) if is_reason else text,
                now_ms=now_ms,
            )
        if taken:
            first = taken[0]
            self.delivery.post_notice(
                tx, claim.target, TAKEN_OVER, reply_to=first.input.parts[0].message_id, turn_id=first.id
            )
        said = [
            denied_because(text) if key.startswith(pending.REASON) else self._edit_for_model(text)
            for key, text in edits.items()
        ]
        said += [for_model(turn.input, turn.requester) for turn in taken]
        return [("steered", {"text": text}) for text in said]

    def _edit_for_model(self, text: str) -> str:
        given = self.claim.input
        row = TurnInputRow(text=newer(text), speaker=given.speaker, shared=given.shared)
        return for_model(row, self.claim.requester)
