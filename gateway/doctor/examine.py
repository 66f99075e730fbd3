"""The whole examination, in the order in which a person would look."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway.adapter import Finding
from gateway.clock import Clock, utc_now
from gateway.config import Config
from gateway.control import SOCKET, NoDaemon, ask
from gateway.daemon import look_at_memory, look_at_model_services, look_at_tool_servers
from gateway.doctor import house
from gateway.doctor.accounts import AccountToCheck, check_accounts
from gateway.doctor.parts import Part
from gateway.errors import ParleyError
from gateway.redaction import Redactor
from gateway.store.sqlite import is_served

DATABASE = "parley.db"


async def examine(
    config: Config, accounts: Sequence[AccountToCheck], *, clock: Clock = utc_now
) -> tuple[Part, ...]:
    """Look at everything, with a daemon or without one.

    Raises:
        ConfigError: the agents' settings name what does not exist.
    """
    file = config.state_dir / DATABASE
    status, daemon = await _daemon(config)
    if status is None:
        looking = [(one.name, one.trouble, one.detail) for one in await look_at_tool_servers(config)]
        memory = [(one.name, one.trouble) for one in look_at_memory(config)]
    else:
        looking = [(one["name"], one["trouble"], one["detail"]) for one in status["vitals"]["tools"]]
        memory = [(one["name"], one["trouble"]) for one in status["vitals"]["memory"]]
    checkups = await check_accounts(accounts)
    models = await look_at_model_services(config)
    dates = [checkup.server_date for checkup in checkups if checkup.server_date]
    machine = (
        *house.secrets_kept(config),
        house.state_folder(config.state_dir),
        *([await asyncio.to_thread(house.database, file)] if config.database == "sqlite" else ()),
        house.disk(config.state_dir),
        house.clock(clock(), dates, await asyncio.to_thread(house.newest_stored, file)),
    )
    parts = (
        Part(name="configuration", findings=(_configuration(config, accounts), *_closed(config))),
        Part(name="machine", findings=machine),
        Part(name="daemon", findings=daemon),
        *(
            Part(name=account.place, findings=checkup.findings)
            for account, checkup in zip(accounts, checkups, strict=True)
        ),
        *([Part(name="models", findings=models)] if models else ()),
        *(Part(name=f"memory {name}", findings=(_memory(trouble),)) for name, trouble in memory),
        *(
            Part(name=f"tools of {name}", findings=(_server(trouble, detail),))
            for name, trouble, detail in looking
        ),
    )
    redactor = Redactor(config.secrets())
    return tuple(_masked(part, redactor) for part in parts)


def _configuration(config: Config, accounts: Sequence[AccountToCheck]) -> Finding:
    read = str(config.file) if config.file else "no file"
    runs = ", ".join(account.place for account in accounts) or "no platform: it talks in a terminal"
    return Finding(name="configuration", state="ok", detail=f"{read}; {runs}")


def _closed(config: Config) -> tuple[Finding, ...]:
    """Platforms on which nobody could ever be answered."""
    return tuple(
        Finding(
            name="access",
            state="warning",
            detail=f"nobody may write to the bot on {platform}",
            fix=f"name people in access.allow.{platform}, or switch access.pairing on",
        )
        for platform in dict.fromkeys(account.platform for account in config.accounts)
        if not config.access.pairing
        and not config.access.allow.get(platform)
        and not config.access.admins.get(platform)
    )


async def _daemon(config: Config) -> tuple[Mapping[str, Any] | None, tuple[Finding, ...]]:
    """What the running daemon says of itself, if one runs, and what is to be said of that."""
    try:
        status: Mapping[str, Any] = await ask(config.state_dir / SOCKET, "status")
    except NoDaemon:
        if is_served(config.state_dir / DATABASE):
            finding = Finding(
                name="daemon",
                state="failed",
                detail="a process has the state folder and does not answer at its control socket",
                fix="see its log; if it hangs, end it and start it again",
            )
        else:
            finding = Finding(name="daemon", state="ok", detail="none runs now")
        return None, (finding,)
    except ParleyError as error:
        return None, (Finding(name="daemon", state="failed", detail=str(error), fix="start it again"),)
    running = Finding(name="daemon", state="ok", detail=f"version {status['version']} runs")
    return status, (running, *(_adapter(one) for one in status["vitals"]["adapters"]))


def _adapter(health: Mapping[str, str]) -> Finding:
    name = f"adapter {health['name']}"
    if not health["trouble"]:
        return Finding(name=name, state="ok", detail="online")
    return Finding(
        name=name, state="failed", detail=health["trouble"], fix="see below what its account lacks"
    )


def _server(trouble: str, detail: str) -> Finding:
    if not trouble:
        return Finding(name="tool server", state="ok", detail=detail)
    return Finding(
        name="tool server",
        state="failed",
        detail=trouble,
        fix="see that its command or url in mcpServers works by itself; all else goes on without it",
    )


def _memory(trouble: str) -> Finding:
    if not trouble:
        return Finding(name="provider", state="ok", detail="can be used")
    return Finding(
        name="provider",
        state="failed",
        detail=trouble,
        fix="see what its package needs in memory.settings, or set memory.provider to builtin; all else goes on",
    )


def _masked(part: Part, redactor: Redactor) -> Part:
    return replace(
        part,
        findings=tuple(
            replace(finding, detail=redactor.text(finding.detail), fix=redactor.text(finding.fix))
            for finding in part.findings
        ),
    )
