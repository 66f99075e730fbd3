"""Where a turn stands, read from its records alone: the one rule of the chat's loop (pure).

    send → record the response → its calls: task calls at once, all others one after the other
         → all handled: the round's queue was empty or a task began → end;  else → send again

Every answer here comes from records, so a turn that waited for a person, crashed or was restarted goes on
exactly where one that never stopped would.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from agent.calls import ToolCall
from agent.events import (
    Checkpoint,
    Compressed,
    Paid,
    Record,
    Responded,
    Steered,
    ToolReturned,
    ToolStarted,
    Usage,
)

TASK_SERVER = "tasks"
"""The server name of `task_begin` and `task_end`: calls to it go to the task system, not into the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One response and what became of its calls; `final` if it was asked for without tools."""

    number: int
    response: Responded
    final: bool
    started: dict[str, ToolStarted] = field(default_factory=dict)
    returned: dict[str, ToolReturned] = field(default_factory=dict)

    @property
    def queue(self) -> tuple[ToolCall, ...]:
        """The round's call queue, in order: every call that was not handed to the task system."""
        return tuple(call for call in self.response.calls if not self._is_handed_over(call))

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls without a result, in the order they are handled: task calls first, then the queue."""
        waiting = [call for call in self.response.calls if call.id not in self.returned]
        return tuple(sorted(waiting, key=lambda call: not is_task_call(call)))

    @property
    def begins(self) -> tuple[ToolCall, ...]:
        """The tasks this round began."""
        return tuple(c for c in self.response.calls if c.tool == "task_begin" and self._is_handed_over(c))

    @property
    def ends(self) -> tuple[ToolCall, ...]:
        """The tasks this round offers as ended."""
        return tuple(c for c in self.response.calls if c.tool == "task_end" and self._is_handed_over(c))

    def _is_handed_over(self, call: ToolCall) -> bool:
        if not is_task_call(call):
            return False
        result = self.returned.get(call.id)
        # A task call that fails (an unknown agent) is no task: the model must hear of it like of any other.
        return result is None or result.outcome == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Ask the model.

    `round` is 0-based; `sends` are all made so far in this turn; `empties` the empty replies of this round;
    `torn` says that an earlier send was cut off and what it streamed is void.
    """

    round: int
    sends: int
    empties: int = 0
    torn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """Handle one call; `started` if it was already running when the turn was interrupted."""

    round: Round
    call: ToolCall
    started: ToolStarted | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """All is said and done: write checkpoint C and end."""

    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Checkpoint C is written; nothing is left to do."""


Step = Send | Handle | Finish | Ended


def is_task_call(call: ToolCall) -> bool:
    """Whether a call goes to the task system; one with unreadable arguments is an ordinary failing call."""
    return call.server == TASK_SERVER and call.args is not None


def rounds_of(records: Iterable[Record]) -> tuple[Round, ...]:
    """The turn's rounds in order; results are kept with the round of their call."""
    rounds: list[Round] = []
    final = False
    for record in records:
        match record:
            case Checkpoint(name="A", data=data):
                final = data.get("tools") == "none"
            case Checkpoint() | Steered() | Compressed() | Paid():
                pass
            case Responded():
                rounds.append(Round(number=len(rounds), response=record, final=final))
            case ToolStarted(call_id=call_id):
                rounds[-1].started[call_id] = record
            case ToolReturned(call_id=call_id):
                rounds[-1].returned[call_id] = record
    return tuple(rounds)


def steered_by_round(records: Iterable[Record]) -> dict[int, list[str]]:
    """What the user said while the turn ran, by the number of responses that came before it."""
    said: dict[int, list[str]] = {}
    responses = 0
    for record in records:
        match record:
            case Responded():
                responses += 1
            case Steered(text=text):
                said.setdefault(responses, []).append(text)
            case _:
                pass
    return said


def next_step(records: Sequence[Record]) -> Step:
    """What a turn with these records does next."""
    if any(isinstance(record, Checkpoint) and record.name == "C" for record in records):
        return Ended()
    rounds = rounds_of(records)
    torn = _sends_since_response(records)
    if not rounds or torn:
        return _send(records, rounds, torn)
    last = rounds[-1]
    for call in last.open_calls:
        return Handle(round=last, call=call, started=last.started.get(call.id))
    if not last.queue or last.begins or last.final:
        return Finish(rounds=rounds)
    return _send(records, rounds, torn)


def _send(records: Sequence[Record], rounds: tuple[Round, ...], torn: Sequence[Checkpoint]) -> Send:
    sends = sum(isinstance(record, Checkpoint) and record.name == "A" for record in records)
    empties = torn[-1].data.get("empties") if torn else 0
    return Send(
        round=len(rounds),
        sends=sends,
        empties=empties if isinstance(empties, int) else 0,
        torn=bool(torn),
    )


def _sends_since_response(records: Sequence[Record]) -> list[Checkpoint]:
    tail = takewhile(lambda record: not isinstance(record, Responded), reversed(records))
    return [record for record in tail if isinstance(record, Checkpoint) and record.name == "A"][::-1]


def total_usage(records: Iterable[Record]) -> Usage:
    """The tokens of all responses of a turn, of the summaries made for it, and of what came to nothing."""
    return sum((r.usage for r in records if isinstance(r, Responded | Compressed | Paid)), Usage())
