"""An OpenAI-compatible model service on loopback; see `simulator.ModelSimulator`."""

from .answers import Answer, ToolCall, call_tool, context_too_long, rate_limited
from .asked import Asked
from .simulator import ModelSimulator

__all__ = [
    "Answer",
    "Asked",
    "ModelSimulator",
    "ToolCall",
    "call_tool",
    "context_too_long",
    "rate_limited",
]
