"""What an agent is for one turn: frozen, so a turn keeps its persona, model and tools whatever changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.cooldown import Cooldown
from agent.memory.lifecycle import Memory
from agent.ports import Mask
from agent.prices import Price
from agent.provider import Provider
from agent.retries import DEFAULT_RETRIES, RetryPolicy
from agent.settings import ContextRules
from agent.tools.registry import Catalogue
from agent.tools.results import ResultFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One model the agent may be answered by: its configured name, its provider, its settings and its price.

    `context_window` is in tokens, None if nobody said.
    """

    name: str
    provider: Provider
    settings: Mapping[str, object] = field(default_factory=dict)
    price: Price | None = None
    cooldown: Cooldown = field(default_factory=Cooldown, repr=False)
    context_window: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One agent for one turn.

    `head` is the stable part of the system prompt. `routes` are tried in order, the agent's own model first;
    `summary_routes` write summaries of what has to go (none: the same as `routes`).
    `mask` takes secrets out of what is logged.
    `budget` is in sends. `fingerprint` changes exactly when persona, model or catalogue do; stored with the
    turn.
    """

    agent: str
    head: str
    routes: tuple[Route, ...]
    tools: Catalogue
    results: ResultFolder
    memory: Memory = field(default_factory=Memory, repr=False)
    mask: Mask = field(repr=False)
    budget: int = 40
    tool_timeout_s: float = 300.0
    result_limit: int = 50_000
    answer_wait_s: float = 240.0
    retries: RetryPolicy = DEFAULT_RETRIES
    context: ContextRules = field(default_factory=ContextRules)
    summary_routes: tuple[Route, ...] = ()
    fingerprint: str = ""

    @property
    def window(self) -> int | None:
        """The context window of the model that is asked first now, in tokens."""
        awake = next((route for route in self.routes if not route.cooldown.is_cooling), self.routes[0])
        return awake.context_window
