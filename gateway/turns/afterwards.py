"""What a finished turn leaves to do for memory: counted in the transaction that ends it, done behind everybody's back.

Nothing here delays a reply: the turn's end adds to counters, and whoever works on them is only told once all is stored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.events import Record, Responded
from agent.memory.lifecycle import Memory
from agent.ports import Who
from gateway.store import reviews
from gateway.store.turns import Claim
from gateway.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Afterwards:
    """See the module; `wake` tells the reviewer that something may be due."""

    memory: Memory
    wake: Callable[[], None] = lambda: None

    def count(self, tx: Tx, claim: Claim, records: Sequence[Record]) -> None:
        """A turn ends well, in this transaction."""
        responses = [record for record in records if isinstance(record, Responded)]
        rounds = sum(bool(response.calls) for response in responses)
        reviews.count(tx, "memory", claim.requester, claim.agent, 1)
        reviews.count(tx, "skills", f"{claim.session_id}:{claim.agent}", claim.agent, rounds)
        answer = "\n\n".join(response.text for response in responses if response.text)
        tx.after_commit(lambda: self._tell(who_of(claim), claim.input.text, answer))

    def _tell(self, who: Who, question: str, answer: str) -> None:
        self.memory.turn_ended(who, question, answer)
        self.wake()


def who_of(claim: Claim) -> Who:
    """Whose turn it is, as the agent knows it."""
    return Who(
        user=claim.requester,
        session_id=claim.session_id,
        platform=claim.target.platform,
        is_alone=not claim.input.shared,
    )
