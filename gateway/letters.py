"""What the operator may do about messages that did not arrive: send one again, or let it go.

Neighbours: the control socket and the console ask; `delivery` sends. A message that may have arrived is announced as a
possible repeat, as `/again` does; nothing is ever repeated in silence.
"""

import structlog

from gateway.delivery import Delivery
from gateway.store import outbox
from gateway.store.outbox import DROPPED, SENT_AGAIN, Draft
from gateway.store.tx import Store, Tx

log = structlog.get_logger()

REPEAT = "↻ Again, this may be a repeat:"


class Letters:
    """See the module; each method is one transaction."""

    def __init__(self, database: Store, delivery: Delivery) -> None:
        self._db = database
        self._delivery = delivery

    async def retry(self, row_id: int) -> str:
        """Send a dead letter, or a message of unknown outcome, once more; what came of it, in words."""
        new_id = await self._db.write(lambda tx: self._retry(tx, row_id))
        if new_id is None:
            return _none(row_id)
        log.info("outbox.retried", row=row_id, again=new_id)
        return f"{row_id} is sent again as {new_id}."

    async def drop(self, row_id: int) -> str:
        """Let a message go; what came of it, in words."""
        dropped = await self._db.write(lambda tx: outbox.close_letter(tx, row_id, DROPPED))
        if not dropped:
            return _none(row_id)
        log.info("outbox.dropped", row=row_id)
        return f"{row_id} is dropped."

    def _retry(self, tx: Tx, row_id: int) -> int | None:
        found = outbox.letter(tx, row_id)
        was_unknown = tx.row("SELECT 1 AS x FROM outbox WHERE id = :id AND state = 'unknown'", id=row_id)
        if found is None or not outbox.close_letter(tx, row_id, SENT_AGAIN):
            return None
        message, kind, turn_id, request_id = found
        outbox.mark_back(tx, message.target)
        if was_unknown:
            self._delivery.post_notice(tx, message.target, REPEAT)
        return self._delivery.post(
            tx,
            Draft(
                target=message.target,
                kind=kind,
                body=message.body,
                buttons=message.buttons,
                file=message.file,
                idem_key=self._delivery.draft_key(),
                turn_id=turn_id,
                request_id=request_id,
            ),
        )


def _none(row_id: int) -> str:
    return f"{row_id} is no message that failed or may not have arrived; `parley outbox` lists them."
