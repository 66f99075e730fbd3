"""Runs turns: from a claimed lane through the agent's chat to stored events and queued replies.

The only part of the gateway (beside the daemon) that knows the agent. `run` is the runner, `translate` the
dictionary between agent events and stored ones, `gate` decides on tool calls, `wording` says how people's words
reach the model.
"""

from gateway.turns.gate import Gatekeeper
from gateway.turns.reading import FileLimits
from gateway.turns.run import TurnRunner, TurnSettings

__all__ = ["FileLimits", "Gatekeeper", "TurnRunner", "TurnSettings"]
