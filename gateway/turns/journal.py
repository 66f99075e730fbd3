"""A running turn's events on their way into the store: numbered, joined, committed in order, then published.

Deltas are joined until 512 characters or 50 ms are reached. `soon` lets events ride along with the next commit,
`commit` waits until all so far is durable. Writes are queued in order, so a waiting commit covers all before it.
Events get their numbers where they are stored: a write that failed leaves no gap.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from gateway.clock import Clock, to_ms
from gateway.errors import ParleyError
from gateway.events import EventHub, TurnEvent
from gateway.store import turns
from gateway.store.turns import Claim, StoredEvent
from gateway.store.tx import Store, Tx
from gateway.turns.translate import encode

JOIN_S = 0.05
JOIN_CHARS = 512
DELTAS = frozenset({"text", "thinking"})

Also = Callable[[Tx], object]
Events = list[tuple[str, dict[str, Any]]]
Made = Callable[[Tx], Events]


class Journal:
    """See the module. One per run of a turn; every write is fenced by its claim."""

    def __init__(self, database: Store, hub: EventHub, claim: Claim, clock: Clock) -> None:
        self._db = database
        self._hub = hub
        self._claim = claim
        self._clock = clock
        self._next_idx = claim.events[-1].idx + 1 if claim.events else 0
        self._buffer: list[tuple[str, dict[str, Any]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._failure: BaseException | None = None
        self._attempt_from = _attempt_start(claim.events)

    @property
    def attempt_from(self) -> int:
        """The first idx that belongs to the model's current attempt: what a retraction takes back."""
        return self._attempt_from

    def begin_attempt(self) -> None:
        """The next event starts a new attempt of the model."""
        self._attempt_from = self._next_idx + len(self._buffer)

    def soon(self, kind: str, payload: dict[str, Any]) -> None:
        """Store an event with the next commit, at the latest in 50 ms.

        Raises:
            ParleyError: an earlier write failed; `Fenced` if the lane is lost.
        """
        self._raise_failure()
        if kind in DELTAS and self._buffer and self._buffer[-1][0] == kind:
            self._buffer[-1][1]["text"] += payload["text"]
        else:
            self._buffer.append((kind, dict(payload)))
        if kind in DELTAS and len(self._buffer[-1][1]["text"]) >= JOIN_CHARS:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(JOIN_S, self._flush)

    def send_off(self) -> None:
        """Store all so far without waiting for it: whatever is committed later comes after it.

        Raises:
            ParleyError: an earlier write failed.
        """
        self._raise_failure()
        self._flush()

    async def commit(self, also: Also | None = None) -> None:
        """Store all events so far, and what `also` writes, in one transaction; returns when it is durable.

        Raises:
            ParleyError: it was not stored; `Fenced` if the lane is lost.
        """
        await asyncio.shield(self.submit(also))

    async def commit_made(self, make: Made) -> Events:
        """Store all events so far, then those that `make` finds out in its own transaction; returns these.

        Only for somebody who is the journal's sole writer until this returns.

        Raises:
            ParleyError: they were not stored; `Fenced` if the lane is lost.
        """
        await self.commit()
        made: Events = []

        def work(tx: Tx) -> None:
            made.extend(make(tx))
            self._write(tx, [(kind, encode(payload)) for kind, payload in made], None)

        await asyncio.shield(self._db.write(work))
        self._next_idx += len(made)
        return made

    def submit(self, also: Also | None = None) -> "asyncio.Future[None]":
        """Queue what `commit` waits for. Await it shielded: whoever is cancelled does not take a write back.

        Raises:
            ParleyError: an earlier write failed.
        """
        self._raise_failure()
        return self._submit(also)

    def close(self) -> None:
        """Forget what was not committed; nothing is written any more."""
        self._buffer.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _flush(self) -> None:
        if self._buffer:
            self._submit(None).add_done_callback(self._note_failure)
        self._timer = None

    def _submit(self, also: Also | None) -> "asyncio.Future[None]":
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        encoded = [(kind, encode(payload)) for kind, payload in self._buffer]
        self._next_idx += len(encoded)
        self._buffer = []
        return self._db.write(lambda tx: self._write(tx, encoded, also))

    def _write(self, tx: Tx, encoded: list[tuple[str, str]], also: Also | None) -> None:
        fence = self._claim.fence
        events = [
            StoredEvent(idx=idx, kind=kind, payload=payload)
            for idx, (kind, payload) in enumerate(encoded, start=turns.next_idx(tx, fence.turn_id))
        ]
        turns.append_events(tx, fence, events, to_ms(self._clock()))
        # Watchers hear of the words before anybody is handed a message made of them.
        tx.after_commit(
            lambda: self._hub.publish(
                TurnEvent(
                    turn_id=fence.turn_id, lane_id=fence.lane_id, idx=e.idx, kind=e.kind, payload=e.payload
                )
                for e in events
            )
        )
        if also is not None:
            also(tx)

    def _note_failure(self, done: "asyncio.Future[None]") -> None:
        if not done.cancelled() and done.exception() is not None:
            self._failure = done.exception()

    def _raise_failure(self) -> None:
        # Once: the turn's last words, which tell of the failure, have to get through.
        failure, self._failure = self._failure, None
        if isinstance(failure, ParleyError):
            raise failure
        if failure is not None:
            raise RuntimeError("a turn's events were not stored") from failure


def _attempt_start(events: tuple[StoredEvent, ...]) -> int:
    for event in reversed(events):
        if event.kind == "retract" or (event.kind == "checkpoint" and '"name":"A"' in event.payload):
            return event.idx + 1
    return 0
