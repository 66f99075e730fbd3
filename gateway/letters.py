"""What the operator may do about messages that did not arrive: send one again, or let it go.

Neighbours: the control socket and the console ask; `delivery` sends. A message that may have arrived is announced as a
possible repeat, as `/again` does; nothing is ever repeated in silence.
"""

import structlog

from gateway.delivery import Delivery
from gateway.store import outbox
from gateway.store.outbox import DROPPED, SENT_AGAIN
from gateway.store.tx import Store

log = structlog.get_logger()


class Letters:
    """See the module; each method is one transaction."""

    def __init__(self, database: Store, delivery: Delivery) -> None:
        self._db = database
        self._delivery = delivery

    async def retry(self, row_id: int) -> str:
        """Send a dead letter, or a message of unknown outcome, once more; what came of it, in words."""
        new_id = await self._db.write(lambda tx: self._delivery.show_again(tx, row_id, SENT_AGAIN))
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


def _none(row_id: int) -> str:
    return f"{row_id} is no message that failed or may not have arrived; `parley outbox` lists them."
