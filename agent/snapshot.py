"""What an agent is for one turn: frozen, so a turn keeps its persona, model and tools whatever changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.cooldown import Cooldown
from agent.prices import Price
from agent.provider import Provider
from agent.retries import DEFAULT_RETRIES, RetryPolicy
from agent.tools.registry import Catalogue
from agent.tools.results import ResultFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One model the agent may be answered by: its configured name, its provider, its settings and its price."""

    name: str
    provider: Provider
    settings: Mapping[str, object] = field(default_factory=dict)
    price: Price | None = None
    cooldown: Cooldown = field(default_factory=Cooldown, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One agent for one turn.

    `head` is the stable part of the system prompt. `routes` are tried in order, the agent's own model first.
    `budget` is in sends. `fingerprint` changes exactly when persona, model or catalogue do; stored with the
    turn.
    """

    agent: str
    head: str
    routes: tuple[Route, ...]
    tools: Catalogue
    results: ResultFolder
    budget: int = 40
    tool_timeout_s: float = 300.0
    result_limit: int = 50_000
    answer_wait_s: float = 240.0
    retries: RetryPolicy = DEFAULT_RETRIES
    fingerprint: str = ""
