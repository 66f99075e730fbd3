"""The configuration as each part wants it: plain values, so that no part below depends on `config`."""

from datetime import time
from zoneinfo import ZoneInfo

from agent.errors import SettingsError
from agent.prices import FREE, Price
from agent.settings import (
    AgentProfile,
    AgentSettings,
    ContextRules,
    McpServer,
    MemoryRules,
    ModelProfile,
    ToolRules,
)
from gateway.access import AccessLists
from gateway.cleaner import Retention
from gateway.config import Config, ConfigError, Problem, SessionSettings
from gateway.config.sections import CHAT_KINDS, LimitSettings, ModelSettings
from gateway.intake import IntakeSettings
from gateway.limits import DayLimits
from gateway.messages import Author
from gateway.requests.policy import ApprovalPolicy
from gateway.session_store import ResetPolicy
from gateway.source import SessionScope


def authors(config: Config) -> dict[str, Author]:
    """How each agent is shown to people; none if there is only one, who needs no name."""
    if len(config.agents) < 2:
        return {}
    return {
        name: Author(name=agent.name or name, avatar=agent.avatar) for name, agent in config.agents.items()
    }


def agent_settings(config: Config, *, demo_delay_s: float) -> AgentSettings:
    """Agents, models, tool servers and their bounds."""
    return AgentSettings(
        agents={
            name: AgentProfile(
                model=agent.model, instructions=agent.instructions, tools=agent.tools, skills=agent.skills
            )
            for name, agent in config.agents.items()
        },
        models={
            name: ModelProfile(
                provider=model.provider,
                model=model.model or "",
                base_url=model.base_url,
                api_key=model.api_key.get_secret_value() if model.api_key else None,
                context_window=model.context_window,
                fallback=model.fallback,
                settings=model.settings,
                price=_price(model),
                first_event_timeout_s=model.first_event_timeout_s,
                timeout_s=model.timeout_s,
            )
            for name, model in config.models.items()
            if name in config.used_models  # a library nobody uses is not imported
        },
        state_dir=config.state_dir,
        mcp_servers={
            name: McpServer(
                command=server.command,
                args=server.args,
                env={key: value.get_secret_value() for key, value in server.env.items()},
                cwd=server.cwd,
                url=server.url,
                headers={key: value.get_secret_value() for key, value in server.headers.items()},
            )
            for name, server in config.mcp_servers.items()
        },
        tools=ToolRules(
            read_only=config.tools.read_only,
            idempotent=config.tools.idempotent,
            timeout_s=config.tools.timeout_s,
            result_limit=config.tools.result_limit,
            connect_timeout_s=config.tools.connect_timeout_s,
            answer_wait_s=config.tools.answer_wait_s,
            off=config.tools.off,
        ),
        context=ContextRules(**config.context.model_dump()),
        memory=MemoryRules(provider=config.memory.provider, settings=config.memory.settings),
        budget=config.turns.budget,
        demo_delay_s=demo_delay_s,
    )


def refused_settings(error: SettingsError) -> ConfigError:
    """What the agent finds wrong with its settings, as a problem of the configuration."""
    key, _, why = str(error).partition(": ")
    return ConfigError([Problem(where=key, what=why, fix="correct it in the configuration")])


def _price(model: ModelSettings) -> Price | None:
    if model.price is not None:
        return Price(**model.price.model_dump())
    return FREE if model.provider == "demo" else None


def access_lists(config: Config) -> dict[str, AccessLists]:
    """The allow-lists and admins of each platform."""
    access = config.access
    return {
        platform: AccessLists(
            allow=frozenset(access.allow.get(platform, ())), admins=frozenset(access.admins.get(platform, ()))
        )
        for platform in {*access.allow, *access.admins}
    }


def approval_policy(config: Config) -> ApprovalPolicy:
    """Which tools may run without asking."""
    approvals = config.approvals
    return ApprovalPolicy(
        default=approvals.default,
        allow=approvals.allow,
        deny=approvals.deny,
        two_person=approvals.two_person,
        admin_only=config.tools.admin_only,
    )


def day_limits(config: Config) -> tuple[DayLimits, dict[str, DayLimits]]:
    """What a person may use in a day, and what a chat with limits of its own may."""
    chats = {name: _limits(chat.limits) for name, chat in config.chats.items() if chat.limits is not None}
    return _limits(config.limits), chats


def _limits(limits: LimitSettings) -> DayLimits:
    dollars = limits.usd_per_day
    return DayLimits(
        messages=limits.messages_per_day,
        tokens=limits.tokens_per_day,
        usd_micros=None if dollars is None else round(dollars * 1_000_000),
    )


def retention(config: Config) -> Retention:
    """How long things are kept."""
    return Retention(**config.retention.model_dump())


def reset_policy(sessions: SessionSettings) -> ResetPolicy:
    """When sessions expire."""
    daily_at: time = sessions.daily_at
    return ResetPolicy(
        mode=sessions.reset, idle_s=sessions.idle_s, daily_at=daily_at, timezone=ZoneInfo(sessions.timezone)
    )


def session_scope(sessions: SessionSettings) -> SessionScope:
    """Who shares a session."""
    return SessionScope(group=sessions.group, thread=sessions.thread)


def intake_settings(config: Config) -> IntakeSettings:
    """How messages are taken in, with what differs per platform and chat."""
    sessions = config.sessions
    return IntakeSettings(
        lane_size=config.queue.lane_size,
        max_age_s=config.delivery.inbound_max_age_s,
        gather_s=config.queue.gather_s,
        bots=config.access.bots,
        bot_limit=config.access.bot_limit,
        max_running_per_user=config.queue.max_running_per_user,
        max_running=config.queue.max_running,
        scope=session_scope(sessions),
        scopes={name: session_scope(sessions.on(name)) for name in sessions.platforms},
        resets={
            (name, kind): reset_policy(sessions.at(name, kind))
            for name in ("", *sessions.platforms)
            for kind in CHAT_KINDS
        },
        groups=config.access.groups,
        chat_groups={name: chat.groups for name, chat in config.chats.items() if chat.groups is not None},
        queue=config.queue.mode,
        chat_queues={name: chat.queue for name, chat in config.chats.items() if chat.queue is not None},
        chat_agents={name: chat.agent for name, chat in config.chats.items() if chat.agent is not None},
    )
