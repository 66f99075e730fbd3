"""What the agent needs from whoever runs it: decisions on calls, answers to questions, the state to go on from."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent.calls import ToolCall
from agent.events import Record
from agent.questions import Question, Reply, Silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The call may run now, with exactly these arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The call must not run; the model hears `reason`."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A person has to decide; the chat yields `ApprovalNeeded` (or `QuestionAsked`) and returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What became of a question, in words for the model."""

    text: str


Mask = Callable[[str], str]
"""A text without secrets, for the log and for people; whoever runs the agent knows what a secret is."""


class Gate(Protocol):
    """Decides on tool calls."""

    async def check(self, call: ToolCall, *, default: str) -> Allowed | Denied | Pending:
        """The decision on one call; `default` is the tool's own policy (allow, ask or deny) if config is silent."""
        ...

    async def answer(self, call: ToolCall) -> Answered | Pending:
        """What became of the question that a call asks; pending as long as nobody has answered."""
        ...


Hear = Callable[[], Awaitable[Sequence[str]]]
"""What the user said since the turn began or since it was last asked, in order; asked before every send.

What it returns is stored as the turn's `Steered` records already, and is never returned again.
"""


async def hears_nothing() -> Sequence[str]:
    """Nobody can say anything to a running turn."""
    return ()


Ask = Callable[[ToolCall, Question, float], Awaitable[Reply]]
"""Asks the user something while a call runs, and waits for the answer, at most so many seconds."""


async def asks_nobody(_call: ToolCall, _question: Question, _wait_s: float) -> Reply:
    """There is nobody to ask."""
    return Silent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose turn it is, and where: `user` is platform:user. `is_alone`: nobody else takes part in the session."""

    user: str
    session_id: int
    platform: str
    is_alone: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """What opened the turn: the words for the model (a speaker's name included where several speak).

    `context` is one line for the system prompt: platform, chat, speaker, time. `rounds_before` are responses the turn
    has already (another agent's chat came before this one): call ids are unique in the turn. `who` is whose turn it is;
    without it nobody's memory takes part.
    """

    turn_id: int
    text: str
    context: str = ""
    rounds_before: int = 0
    who: Who | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatState:
    """Where a turn stands: the agent's messages of earlier turns as JSON, and this turn's records, in order."""

    history: tuple[str, ...] = ()
    records: tuple[Record, ...] = field(default=())
