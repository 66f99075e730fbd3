"""The kill switch: while it is on, no turn starts or goes on anywhere. Messages are still taken, and wait.

It is a row, so a restart changes nothing. A turn that runs when it is turned on is not cut; `/stop` does that.
"""

from collections.abc import Callable

import structlog

from gateway.clock import Clock, to_ms, utc_now
from gateway.store import lanes, switches
from gateway.store.audit import AuditLog
from gateway.store.lanes import Head
from gateway.store.tx import Tx

log = structlog.get_logger()

NAME = "pause"
PAUSED = "I am paused by an admin. Your message is kept; I answer when I may go on."


class Pause:
    """See the module; all methods that take a `tx` belong to the caller's transaction."""

    def __init__(self, *, audit: AuditLog, kick: Callable[[Tx, Head], None], clock: Clock = utc_now) -> None:
        self._audit = audit
        self._kick = kick
        self._clock = clock
        self.is_on = False

    def load(self, tx: Tx) -> None:
        """Read the switch, at the start."""
        was_on = switches.is_on(tx, NAME)
        tx.after_commit(lambda: self._set(was_on))

    def begin(self, tx: Tx, by: str) -> bool:
        """Start no turn any more; False if it is so already."""
        if not switches.turn_on(tx, NAME, by=by, now_ms=to_ms(self._clock())):
            return False
        self._audit.write(tx, actor=by, action="admin.paused", target="gateway")
        tx.after_commit(lambda: self._set(True))
        return True

    def end(self, tx: Tx, by: str) -> bool:
        """Go on with all that waits; False if nothing was paused."""
        if not switches.turn_off(tx, NAME):
            return False
        self._audit.write(tx, actor=by, action="admin.resumed", target="gateway")
        tx.after_commit(lambda: self._set(False))
        for head in lanes.runnable(tx):
            self._kick(tx, head)
        return True

    def is_news_to(self, tx: Tx, subject: str) -> bool:
        """Whether it is on and somebody (or some place) has not been told so yet; they are, now."""
        return switches.is_on(tx, NAME) and switches.tell_once(tx, NAME, subject, to_ms(self._clock()))

    def _set(self, on: bool) -> None:
        if on != self.is_on:
            log.warning("gateway.paused" if on else "gateway.resumed")
        self.is_on = on
