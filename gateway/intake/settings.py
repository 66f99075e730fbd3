"""How messages are taken in: plain values, as the daemon reads them from the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.session_store import ResetPolicy
from gateway.source import SessionScope, SessionSource

GroupMode = Literal["always", "mention", "never"]
QueueMode = Literal["queue", "collect", "steer", "interrupt", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeSettings:
    """How messages are taken in; mappings hold what differs on one platform or in one chat (`platform:chat id`).

    `gather_s` is how long the rest of a split text or an album is waited for. `bot_limit` is how many messages of
    bots are taken in one chat before the loop guard falls silent. The two `max_running` are the run gate's.
    `resets` are by platform and kind of chat; a platform that differs in nothing is "".
    """

    lane_size: int = 50
    max_age_s: float = 3_600
    gather_s: float = 1.0
    bots: bool = False
    bot_limit: int = 20
    max_running_per_user: int = 5
    max_running: int = 200
    agent: str = "default"
    scope: SessionScope = field(default_factory=SessionScope)
    scopes: Mapping[str, SessionScope] = field(default_factory=dict)
    resets: Mapping[tuple[str, str], ResetPolicy] = field(default_factory=dict)
    groups: GroupMode = "mention"
    chat_groups: Mapping[str, GroupMode] = field(default_factory=dict)
    queue: QueueMode = "queue"
    chat_queues: Mapping[str, QueueMode] = field(default_factory=dict)
    chat_agents: Mapping[str, str] = field(default_factory=dict)

    def names(self, source: SessionSource) -> bool:
        """Whether there are settings for the source's chat."""
        return any(_chat(source) in each for each in (self.chat_groups, self.chat_queues, self.chat_agents))

    def scope_of(self, source: SessionSource) -> SessionScope:
        """Who shares a session on the source's platform."""
        return self.scopes.get(source.platform, self.scope)

    def reset_of(self, source: SessionSource) -> ResetPolicy | None:
        """When a session ends there; None: as everywhere."""
        return self.resets.get((source.platform, source.kind)) or self.resets.get(("", source.kind))

    def groups_in(self, source: SessionSource) -> GroupMode:
        """What is answered in the source's chat, if it is not a direct one."""
        return self.chat_groups.get(_chat(source), self.groups)

    def queue_in(self, source: SessionSource) -> QueueMode:
        """What becomes of a message that comes during a turn."""
        return self.chat_queues.get(_chat(source), self.queue)

    def agent_in(self, source: SessionSource) -> str:
        """Who answers in the source's chat."""
        return self.chat_agents.get(_chat(source), self.agent)


def _chat(source: SessionSource) -> str:
    return f"{source.platform}:{source.chat_id}"
