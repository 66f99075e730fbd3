"""How messages are taken in: plain values, as the daemon reads them from the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.session_store import ResetPolicy
from gateway.source import SessionScope

GroupMode = Literal["always", "mention", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeSettings:
    """How messages are taken in; `scopes`, `resets` and `groups` hold what differs on one platform or chat."""

    lane_size: int = 50
    max_age_s: float = 3_600
    bots: bool = False
    agent: str = "default"
    scope: SessionScope = field(default_factory=SessionScope)
    scopes: Mapping[str, SessionScope] = field(default_factory=dict)
    resets: Mapping[str, ResetPolicy] = field(default_factory=dict)
    groups: GroupMode = "mention"
    chat_groups: Mapping[str, GroupMode] = field(default_factory=dict)
    chat_agents: Mapping[str, str] = field(default_factory=dict)
