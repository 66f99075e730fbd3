"""Legs of a turn: one agent's chat each, read from the turn's events (pure).

A turn begins with the leg of whoever is spoken to. A task that is accepted begins the next one, with another agent, its
own history and the task's goal as its input. Call ids and messages are numbered through over all legs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.store.turns import StoredEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """The leg a turn is in.

    Attributes:
        events: Its own events.
        rounds_before: The model's responses in earlier legs.
        task: The number of the task it works on; None in the first leg.
        is_over: Its chat has ended, and what that brought is stored.
        asked: The request that was opened since then, by its `call_id`: what the turn waited for.
    """

    events: tuple[StoredEvent, ...] = ()
    rounds_before: int = 0
    task: int | None = None
    is_over: bool = False
    asked: str | None = None


def leg_of(events: Sequence[StoredEvent]) -> Leg:
    """The leg that a turn with these events is in."""
    start, task = 0, None
    is_over, asked = False, None
    rounds = rounds_before = 0
    for number, event in enumerate(events):
        match event.kind:
            case "model_response":
                rounds += 1
            case "checkpoint" if json.loads(event.payload)["name"] == "C":
                is_over = True
            case "request" if is_over:
                asked = json.loads(event.payload)["call_id"]
            case "task":
                payload = json.loads(event.payload)
                asked = None
                if payload["what"] == "begin" and payload["state"] == "accepted":
                    start, task, is_over, rounds_before = number + 1, payload["task"], False, rounds
            case _:
                pass
    return Leg(
        events=tuple(events[start:]), rounds_before=rounds_before, task=task, is_over=is_over, asked=asked
    )
