"""One run of a chat: what it was called with, and what is sent as it stands now."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent import budget
from agent.context.folding import compressions_in, folded, moved
from agent.events import Record, Responded
from agent.memory.lifecycle import Recalled
from agent.ports import Ask, Gate, Hear, TurnInput
from agent.prompt import system_prompt
from agent.sending import Answer, Sleep
from agent.snapshot import Snapshot

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from agent.context.compress import Conversation


@dataclass(slots=True, kw_only=True)
class Run:
    """One call of `chat`: its arguments, the records so far, and the history, read from JSON once."""

    turn_input: TurnInput
    snapshot: Snapshot
    gate: Gate
    hear: Hear
    ask: Ask
    sleep: Sleep
    reference: Callable[[], str]
    records: list[Record] = field(default_factory=list)
    told_of: set[str] = field(default_factory=set)
    refused_in: int | None = None
    """The round in which a provider refused the request as too long, and what followed was made shorter."""
    summary_failed: bool = False
    _system: "list[ModelMessage]" = field(default_factory=list)
    _history: "list[ModelMessage]" = field(default_factory=list)

    async def load_history(self, history: tuple[str, ...]) -> None:
        """Read the agent's stored messages, and what is remembered of the person, once for all sends."""
        from agent import history as messages

        turn = self.turn_input
        recalled = (
            Recalled() if turn.who is None else await self.snapshot.memory.begin_turn(turn.who, turn.text)
        )
        prompt = system_prompt(self.snapshot.head, turn.context, memory=recalled.block, found=recalled.found)
        self._system = [messages.system_message(prompt)]
        self._history = messages.load(history)

    def to_responded(self, answer: Answer, round_number: int) -> Responded:
        """The record of a response."""
        from agent import history

        return history.to_responded(
            answer.response,
            turn_id=self.turn_input.turn_id,
            round_number=self.turn_input.rounds_before + round_number,
            resolve=self.snapshot.tools.resolve,
            model=answer.model,
            price=answer.price,
        )

    def messages(self, note: str | None = None) -> "list[ModelMessage]":
        """What is sent now; `note` is put before the model and never kept."""
        from agent import history

        compressions = compressions_in(self.records)
        turn = history.turn_messages(self.turn_input, self.records, note=note)
        summaries = history.load([each.message_json for each in compressions]) if compressions else []
        return [*self._system, *folded([*self._history, *turn], compressions, summaries)]

    def conversation(self, allowance: budget.Allowance) -> "Conversation":
        """What is sent now, to be counted and shortened."""
        from agent.context.compress import Conversation

        system, *messages = self.messages()
        return Conversation(
            system=system,
            messages=tuple(messages),
            pin_from=moved(self.history_length, compressions_in(self.records)),
            tools=self.snapshot.tools.specs if allowance.tools == "all" else (),
        )

    @property
    def history_length(self) -> int:
        """How many messages of earlier turns there are, as they are stored."""
        return len(self._history)
