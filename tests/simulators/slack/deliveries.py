"""What is on its way to one app: over whichever socket is open, or by HTTP, and again if not acknowledged.

As the platform has it (docs.slack.dev/apis/events-api, 2026): an event that is not acknowledged within three
seconds comes again at once, after a minute and after five; presses and commands never. Here an event that
finds no socket waits for one instead of being given up. No test need wait: `Deliveries.expire` lets all open
acknowledgements run out now, and the seconds are attributes.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Kind = Literal["events_api", "interactive", "slash_commands"]

ACK_TIMEOUT_S = 3.0
RETRY_DELAYS_S = (0.0, 60.0, 300.0)


@dataclass(slots=True, kw_only=True, eq=False)
class Delivery:
    """One envelope and what became of it; `answer` is the acknowledgement's payload."""

    kind: Kind
    envelope_id: str
    payload: dict[str, Any]
    at_s: float
    attempts: int = 0
    reason: str = ""  # why the last attempt failed: timeout, http_timeout, http_error, connection_failed
    acked_at_s: float | None = None
    answer: Any = None
    is_given_up: bool = False
    is_waiting: bool = False  # for a way to the app
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def frame(self) -> dict[str, Any]:
        """The envelope as a socket carries it."""
        frame: dict[str, Any] = {
            "envelope_id": self.envelope_id,
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.kind != "events_api",
        }
        if self.kind == "events_api":
            frame |= {"retry_attempt": self.attempts - 1, "retry_reason": self.reason}
        return frame

    def stop_timer(self) -> None:
        """Wait for nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def start_timer(self, seconds: float, then: Callable[[], None]) -> None:
        """Do something later, instead of what was to be done later so far."""
        self.stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, then)


class Carrier(Protocol):
    """A way to the app; one that is leaving is used only when there is no other."""

    is_leaving: bool

    def carry(self, delivery: Delivery) -> None:
        """Send it off."""


class Deliveries:
    """The envelopes of one app, oldest first; only unacknowledged ones are kept beside the counts."""

    def __init__(self, clock: Callable[[], float], changed: Callable[[], None]) -> None:
        self._clock, self._changed = clock, changed
        self._number = 0
        self.open: dict[str, Delivery] = {}
        self.carriers: list[Carrier] = []
        self.ack_timeout_s = ACK_TIMEOUT_S
        self.retry_delays_s: tuple[float, ...] = RETRY_DELAYS_S
        self.acknowledged = 0
        self.repeated = 0
        self.given_up = 0

    def push(self, kind: Kind, payload: dict[str, Any]) -> Delivery:
        """Put an envelope on its way."""
        self._number += 1
        delivery = Delivery(
            kind=kind, envelope_id=f"env-{self._number:08d}", payload=payload, at_s=self._clock()
        )
        self.open[delivery.envelope_id] = delivery
        self._send(delivery)
        return delivery

    def acknowledge(self, envelope_id: str, answer: Any = None) -> bool:
        """The app took it; False if there was no such envelope open."""
        delivery = self.open.pop(envelope_id, None)
        if delivery is None:
            return False
        delivery.stop_timer()
        delivery.acked_at_s, delivery.answer = self._clock(), answer
        self.acknowledged += 1
        self._changed()
        return True

    def failed(self, delivery: Delivery, reason: str) -> None:
        """An attempt failed: plan the next one, or give up."""
        if delivery.envelope_id not in self.open:
            return
        delivery.reason = reason
        done = delivery.attempts - 1
        if delivery.kind != "events_api" or done >= len(self.retry_delays_s):
            self._give_up(delivery)
        elif self.retry_delays_s[done] == 0:
            self._send(delivery)
        else:
            delivery.start_timer(self.retry_delays_s[done], lambda: self._send(delivery))

    def expire(self) -> int:
        """Let every acknowledgement that is awaited run out now; repeats go out at once. How many."""
        late = [one for one in self.open.values() if not one.is_waiting]
        for delivery in late:
            delivery.stop_timer()
            if delivery.kind == "events_api":
                delivery.reason = "timeout"
                self._send(delivery)
            else:
                self._give_up(delivery)
        return len(late)

    def joined(self, carrier: Carrier) -> None:
        """There is a new way: whatever found none goes by it."""
        self.carriers.append(carrier)
        for delivery in [one for one in self.open.values() if one.is_waiting]:
            self._send(delivery)

    def left(self, carrier: Carrier, unanswered: list[Delivery]) -> None:
        """A way is gone, and with it what it carried: that goes by another, or waits for one."""
        if carrier in self.carriers:
            self.carriers.remove(carrier)
        for delivery in unanswered:
            if delivery.envelope_id in self.open:
                delivery.stop_timer()
                delivery.reason = "connection_failed"
                self._send(delivery)

    def close(self) -> None:
        """Stop all timers."""
        for delivery in self.open.values():
            delivery.stop_timer()

    def _send(self, delivery: Delivery) -> None:
        carrier = next((one for one in self.carriers if not one.is_leaving), next(iter(self.carriers), None))
        delivery.is_waiting = carrier is None
        if carrier is None:
            return
        self.carriers.remove(carrier)  # the next one goes by the next way
        self.carriers.append(carrier)
        delivery.attempts += 1
        self.repeated += delivery.attempts > 1
        delivery.start_timer(self.ack_timeout_s, lambda: self.failed(delivery, "timeout"))
        carrier.carry(delivery)

    def _give_up(self, delivery: Delivery) -> None:
        self.open.pop(delivery.envelope_id, None)
        delivery.stop_timer()
        delivery.is_given_up = True
        self.given_up += 1
        self._changed()
