"""What is kept of a turn for the turns after it, and whether what was kept can be read.

Apart from `history`, which imports the model library: this module is cheap to import and loads that one when a
turn ends.
"""

from collections.abc import Sequence

from agent.ports import ChatState, TurnInput


def closed_history(turn_input: TurnInput, state: ChatState, *, closing: str) -> tuple[str, ...]:
    """The turn's messages as JSON, to append to the agent's stored history, however the turn ended.

    Valid for every provider, also turn after turn: each call has exactly one result directly after the message
    that asks for it, and the last message is the agent's own.

    Args:
        turn_input: What opened the turn.
        state: The turn's records; `state.history` is not repeated in the result.
        closing: Why the turn ended, for the model to read: the result of calls that have none, and the agent's
            last words where it said none ("stopped by the user").
    """
    from agent import history

    return history.dump_each(history.closed_turn(turn_input, state.records, closing=closing))


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
