"""What a chat says while it runs: the only thing the gateway sees of an agent.

The consumer stores each event before it asks for the next one, so a yielded `Checkpoint` or `ToolStarted` is
durable before the send or the tool call that follows it. Messages of the model travel as JSON text: who stores
them need not know the model library.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent.calls import ResultFile, ToolCall
from agent.questions import Question

Status = Literal["thinking", "waiting", "running_tool", "done"]
ToolState = Literal["queued", "waiting", "running", "done", "failed", "denied"]
ToolOutcome = Literal["ok", "error", "denied", "unknown"]
ErrorKind = Literal["provider", "empty", "budget", "context", "internal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Requests, tokens and cost of one response or, summed, of several.

    `input_tokens` are all, `cached_tokens` (read from the provider's cache) and `written_tokens` (to it) included.
    `usd_micros` are millionths of a dollar; None: the price of some of it is not known.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    usd_micros: int | None = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of both."""
        is_known = self.usd_micros is not None and other.usd_micros is not None
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            usd_micros=(self.usd_micros or 0) + (other.usd_micros or 0) if is_known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A point from which the turn can go on: A before a send, B after a tool's result, C at the chat's end."""

    name: Literal["A", "B", "C"]
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChanged:
    """What the agent is doing now."""

    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """More of the model's reasoning, in order."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More of the model's answer, in order."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """All deltas since the last checkpoint A are void: that send was cut off and is made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Responded:
    """One whole response of the model: `text` is its visible answer, `calls` what it asks for, in order.

    `message_json` is the model library's own message, with our unique call ids inside. `model` is the configured
    name of who answered.
    """

    message_json: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """The user said this while the turn ran; the model hears it with its next send.

    The one event that is stored already when it is yielded: whoever hands it over (`agent.ports.Hear`) takes it
    out of the queue and stores it in one step, so that a crash neither loses nor repeats it.
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """The messages `[start, stop)` of the conversation as it stands now became one that holds their summary.

    Positions count the agent's history and the turn's messages after it, without the system prompt, with earlier
    compressions applied. `message_json` is the model library's own message. Tokens are of the whole request, as
    counted by `agent.context.tokens`; `usage` is what the summary cost.
    """

    start: int
    stop: int
    message_json: str
    tokens_before: int
    tokens_after: int
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """A model answered, and nothing came of it: an empty answer, or a summary that could not be used.

    Kept so that it is counted. `model` is the configured name of who answered; None: it was to be a summary.
    """

    usage: Usage
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """The call is about to run; without a `ToolReturned` after a crash, `effect` decides what becomes of it."""

    call_id: str
    effect: Literal["read", "idempotent", "external"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned:
    """What the model is told of one call, and the files it brought for people."""

    call_id: str
    outcome: ToolOutcome
    content: str
    files: tuple[ResultFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShown:
    """A call's state as people see it; secrets in `call.args` are masked by who shows it."""

    call: ToolCall
    state: ToolState


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalNeeded:
    """The chat cannot go on before a person decides on `queue[current]`; the chat returns after this event.

    `queue` are all calls of the round that stand in the approval queue, in order; `current` is 0-based.
    """

    queue: tuple[ToolCall, ...]
    current: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """The chat cannot go on before a person has answered this call's question; the chat returns after this event."""

    call: ToolCall
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The chat ends without an answer; `message` is for the user, without secrets; `detail` for the log."""

    kind: ErrorKind
    message: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something the user should know while the chat goes on (the budget is spent, a fallback answers)."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEnded:
    """The chat is over; all its texts were said in `Responded`. The last event of a chat that was not parked."""

    usage: Usage


AgentEvent = (
    Checkpoint
    | StatusChanged
    | ThinkingDelta
    | TextDelta
    | Retracted
    | Responded
    | Steered
    | Compressed
    | Paid
    | ToolStarted
    | ToolReturned
    | ToolShown
    | ApprovalNeeded
    | QuestionAsked
    | Failed
    | Noted
    | ChatEnded
)

Record = Checkpoint | Responded | Steered | Compressed | Paid | ToolStarted | ToolReturned
"""The events that rebuild a turn's state; all others are for people to see."""
