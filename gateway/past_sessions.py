"""`/sessions`: the conversations of a chat, newest first, and the way back to one, by its number or a button.

A conversation belongs to its lane: whoever may speak there may go back. The list's card is a confirmation of the person
who asked for it, so it blocks nothing. Neighbours: `commands` asks, `store.past` does it.
"""

from datetime import datetime, timedelta

from gateway.clock import Clock, from_ms, to_ms, utc_now
from gateway.messages import Target
from gateway.requests import Actor, Desk
from gateway.requests.cards import label
from gateway.requests.offers import Offer
from gateway.store import past, turns
from gateway.store.past import PastSession
from gateway.store.requests import Request
from gateway.store.tx import Tx

TOPIC = "sessions"
MOST = 10
BUTTONS = 4
"""Rows of buttons; Discord takes five."""
LASTS_S = 3_600

NONE = "There is no other conversation here yet."
BUSY = "Something is being answered here: wait for it, or /stop it, then go back."
HERE = "You are in that conversation already."
UNKNOWN = "Write /sessions, or /sessions NUMBER with a number of its list."


class PastSessions:
    """See the module; all methods belong to the caller's transaction."""

    def __init__(self, desk: Desk, *, clock: Clock = utc_now) -> None:
        self._desk = desk
        self._clock = clock
        desk.on_confirmation(TOPIC, self._confirmed)

    def on_request(self, tx: Tx, lane_id: int | None, actor: Actor, target: Target, which: str) -> str | None:
        """What `/sessions` does; returns the answer, or None if a card is the answer."""
        found = past.of_lane(tx, lane_id, MOST) if lane_id is not None else []
        if which:
            chosen = next((each for number, each in enumerate(found, 1) if str(number) == which), None)
            return UNKNOWN if chosen is None or lane_id is None else self._go(tx, lane_id, chosen)
        others = [(number, each) for number, each in enumerate(found, 1) if not each.is_current]
        if not others or lane_id is None:
            return NONE
        self._desk.confirm(
            tx,
            call_id=f"{TOPIC}:{lane_id}",
            words="\n".join([*(self._line(*each) for each in enumerate(found, 1)), _HOW]),
            offered=tuple((_button(*each),) for each in others[:BUTTONS]),
            targets=[target],
            lasts_s=LASTS_S,
            requester=actor.id,
        )
        return None

    def _confirmed(self, tx: Tx, request: Request, choice: str, actor: Actor) -> str:
        del actor  # the desk has asked who may press it
        lane_id, session_id = int(request.call_id.partition(":")[2]), int(choice.partition("/")[2])
        found = past.of_lane(tx, lane_id, most=1_000)
        chosen = next((each for each in found if each.id == session_id), None)
        return UNKNOWN if chosen is None else self._go(tx, lane_id, chosen)

    def _go(self, tx: Tx, lane_id: int, chosen: PastSession) -> str:
        if chosen.is_current:
            return HERE
        if turns.open_count(tx, lane_id):
            return BUSY
        past.go_back(tx, lane_id, chosen.id, to_ms(self._clock()))
        return f"We are back in: {_title(chosen)}"

    def _line(self, number: int, session: PastSession) -> str:
        here = ", this one" if session.is_current else ""
        return f"{number}. {_title(session)} ({_ago(session.last_active_at, self._clock())}{here})"


_HOW = "/sessions NUMBER goes back to one."


def _title(session: PastSession) -> str:
    return session.title or f"conversation {session.id}"


def _button(number: int, session: PastSession) -> Offer:
    return Offer(label=label(f"{number}. {_title(session)}"), choice=f"session/{session.id}")


def _ago(then_ms: int, now: datetime) -> str:
    gone = max(timedelta(), now - from_ms(then_ms))
    if gone.days:
        return "yesterday" if gone.days == 1 else f"{gone.days} days ago"
    hours, minutes = divmod(gone.seconds // 60, 60)
    return f"{hours} h ago" if hours else f"{minutes} min ago" if minutes else "just now"
