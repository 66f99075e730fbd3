"""How many sends a turn may make, and what is said on the way there (pure).

Sends are counted from checkpoint A records, so the count holds over approvals and restarts.
"""

from typing import Literal, NamedTuple

CAUTION_AT = 0.7
WARNING_AT = 0.9


class Allowance(NamedTuple):
    """What the next send may do: `tools` all or none, and a `note` for the model."""

    tools: Literal["all", "none"]
    note: str | None


def next_allowance(sends: int, budget: int) -> Allowance:
    """The allowance of the next send, after `sends` of `budget`: at the limit one last send without tools."""
    if sends >= budget:
        return Allowance("none", "[The step budget is spent: no more tools. Answer now with what you have.]")
    if sends >= WARNING_AT * budget:
        return Allowance(
            "all", f"[Warning: step {sends + 1} of {budget}. Finish now; do only what is essential.]"
        )
    if sends >= CAUTION_AT * budget:
        return Allowance("all", f"[Caution: step {sends + 1} of {budget}. Begin to wrap up.]")
    return Allowance("all", None)


def spent_notice(budget: int) -> str:
    """What the user is told when the budget ended the work."""
    return f"I stopped after {budget} steps, the limit for one message. Ask me to go on if you want more."
