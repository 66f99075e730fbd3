"""Checks that look at several sections at once: every name that is used must exist."""

from collections.abc import Iterator, Sequence

from gateway.config.problems import Problem, nearest, quoted
from gateway.config.settings import Config
from gateway.config.shape import dotted


def config_problems(config: Config, platforms: Sequence[str]) -> tuple[Problem, ...]:
    """All problems between sections of a configuration whose single values are right.

    Args:
        config: What was loaded.
        platforms: Every platform that access lists and chats may name.
    """
    return (
        *_model_names(config),
        *_agent_names(config),
        *_platform_names(config, platforms),
        *_two_people(config),
        *_accounts(config),
        *_unpriced(config),
        *_unwritable(config),
    )


def _model_names(config: Config) -> Iterator[Problem]:
    known = list(config.models)
    used: list[tuple[tuple[str | int, ...], str]] = [
        (("agents", name, "model"), agent.model) for name, agent in config.agents.items()
    ]
    for name, model in config.models.items():
        used += [(("models", name, "fallback", index), other) for index, other in enumerate(model.fallback)]
        if name in model.fallback:
            yield _problem(config, ("models", name, "fallback"), "names its own model", "name other models")
    if config.context.summary_model is not None:
        used.append((("context", "summary_model"), config.context.summary_model))
    for path, model_name in used:
        if model_name not in known:
            yield _missing(config, path, "model", model_name, known, "models")


def _agent_names(config: Config) -> Iterator[Problem]:
    known = list(config.agents)
    folded: dict[str, str] = {}
    for name in known:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            fix = f"@{name} is read in any case; give one of the two another name"
            yield _problem(config, ("agents", name), f"cannot be told from {quoted(other)}", fix)
    for chat, settings in config.chats.items():
        if settings.agent is not None and settings.agent not in known:
            yield _missing(config, ("chats", chat, "agent"), "agent", settings.agent, known, "agents")


def _platform_names(config: Config, platforms: Sequence[str]) -> Iterator[Problem]:
    for section, keys in (
        (("access", "allow"), config.access.allow),
        (("access", "admins"), config.access.admins),
        (("sessions", "platforms"), config.sessions.platforms),
        (("tools", "off"), config.tools.off),
    ):
        for platform in keys:
            if platform not in platforms:
                yield _unknown_platform(config, (*section, platform), platform, platforms)
    for chat in config.chats:
        platform, colon, chat_id = chat.partition(":")
        if not (colon and chat_id):
            fix = 'write the key as "platform:chat id"'
            yield _problem(config, ("chats", chat), "does not say whose chat it is", fix)
        elif platform not in platforms:
            yield _unknown_platform(config, ("chats", chat), platform, platforms)
    for index, approver in enumerate(config.approvals.approvers):
        platform = approver.partition(":")[0]
        if platform not in platforms:
            yield _unknown_platform(config, ("approvals", "approvers", index), platform, platforms)
    if config.approvals.escalate.to is not None:
        platform = config.approvals.escalate.to.partition(":")[0]
        if platform not in platforms:
            yield _unknown_platform(config, ("approvals", "escalate", "to"), platform, platforms)


def _two_people(config: Config) -> Iterator[Problem]:
    others = bool(config.approvals.approvers) or any(config.access.admins.values())
    if config.approvals.two_person and not others:
        yield _problem(
            config,
            ("approvals", "two_person"),
            "asks for two people, and nobody but the one who asks may approve",
            "name approvals.approvers or access.admins",
        )


def _accounts(config: Config) -> Iterator[Problem]:
    for platform in config.platforms:
        entries = config.section(platform)
        if len(entries) < 2:
            continue
        for index, entry in enumerate(entries):
            if not entry.is_enabled:
                yield _problem(
                    config, (platform, index), "is an account without a token", "set it or remove the entry"
                )
            elif any(other.settings == entry.settings for other in entries[:index]):
                yield _problem(config, (platform, index), "is the same account as one above", "remove it")


def _unpriced(config: Config) -> Iterator[Problem]:
    """A limit of money that cannot be counted would stop nobody."""
    limited: list[tuple[str, ...]] = [("limits",)] if config.limits.usd_per_day is not None else []
    limited += [
        ("chats", chat, "limits")
        for chat, settings in config.chats.items()
        if settings.limits is not None and settings.limits.usd_per_day is not None
    ]
    unpriced = [
        name
        for name, model in config.models.items()
        if name in config.used_models and model.price is None and model.provider != "demo"
    ]
    for path in limited if unpriced else []:
        yield _problem(
            config,
            (*path, "usd_per_day"),
            f"cannot be kept: the price of {quoted(unpriced[0])} is not known",
            f"set models.{unpriced[0]}.price: {{input: …, output: …}} (US dollars per million tokens)",
        )


def _unwritable(config: Config) -> Iterator[Problem]:
    if config.state_dir.exists() and not config.state_dir.is_dir():
        yield _problem(config, ("state_dir",), f"{config.state_dir} is no folder", "name a folder")


def _missing(
    config: Config, path: tuple[str | int, ...], kind: str, name: str, known: Sequence[str], section: str
) -> Problem:
    meant = nearest(name, known)
    hint = f"did you mean {meant}?" if meant else f"known are: {', '.join(known)}"
    return _problem(config, path, f"names the {kind} {quoted(name)}, which is not in {section}", hint)


def _unknown_platform(
    config: Config, path: tuple[str | int, ...], platform: str, platforms: Sequence[str]
) -> Problem:
    meant = nearest(platform, platforms)
    hint = f"did you mean {meant}?" if meant else f"known are: {', '.join(platforms)}"
    return _problem(config, path, f"names the platform {quoted(platform)}, which does not exist", hint)


def _problem(config: Config, path: tuple[str | int, ...], what: str, fix: str) -> Problem:
    return Problem(what=f"{dotted(path)} {what}", where=config.origin(path), fix=fix)
