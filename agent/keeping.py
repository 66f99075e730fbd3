"""What is kept of a turn for the turns after it, and whether what was kept can be read.

Apart from `history`, which imports the model library: this module is cheap to import and loads that one when a
turn ends.
"""

from collections.abc import Sequence

from agent.context.folding import Keeping, compressions_in, kept
from agent.ports import ChatState, TurnInput


def closed_history(turn_input: TurnInput, state: ChatState, *, closing: str) -> Keeping:
    """What is kept of a turn, however it ended: its messages, after what its compressions made of the history.

    Valid for every provider, also turn after turn: each call has exactly one result directly after the message
    that asks for it, and the last message is the agent's own.

    Args:
        turn_input: What opened the turn.
        state: The agent's stored messages and the turn's records.
        closing: Why the turn ended, for the model to read: the result of calls that have none, and the agent's
            last words where it said none ("stopped by the user").
    """
    from agent import history

    messages = history.dump_each(history.closed_turn(turn_input, state.records, closing=closing))
    return kept(state.history, messages, compressions_in(state.records))


def compacted_history(state: ChatState) -> Keeping:
    """What is kept of a turn that only shortened the history (`agent.context.compact`)."""
    return kept(state.history, (), compressions_in(state.records))


def noted_history(text: str) -> tuple[str, ...]:
    """A message to an agent that asks for no answer, as JSON, to append to its stored history; roles stay in turn."""
    from agent import history

    return history.dump_each(history.noted(text))


def is_readable(history: Sequence[str]) -> bool:
    """Whether stored messages can be read back; blocks for milliseconds."""
    from agent.history import load

    try:
        load(history)
    except ValueError:  # pydantic's error is one
        return False
    return True
