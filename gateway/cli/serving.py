"""`parley run` starts the daemon; `parley chat` joins the one that runs, or starts its own in this process."""

import asyncio
import os
import secrets
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import structlog
import typer

from adapters import TERMINAL, find_adapters
from gateway.cli.loading import TERMINAL_PLATFORM, ConfigFile, LogLevel, load, read, say, start_logging
from gateway.config import EXIT_BAD_CONFIG, Config, ConfigError
from gateway.control import SOCKET, JoinTerminal, NoDaemon, RemoteGateway
from gateway.daemon import EXIT_RESTART, AdapterFactory, Plan, run_daemon
from gateway.errors import AdapterError, ParleyError

log = structlog.get_logger()


def run(config: ConfigFile = None, log_level: LogLevel = None) -> None:
    """Serve all configured platforms; with no token at all, this terminal with the demo model."""
    loaded = load(config)
    if not loaded.accounts:
        _serve_terminal(loaded, once=None, log_level=log_level)
    start_logging(loaded, log_level or loaded.log.level)
    table = find_adapters()
    factories: list[AdapterFactory] = []
    for account in loaded.accounts:
        try:
            made = table[account.platform].load_adapter()
        except AdapterError as error:
            say(f"{account.platform} is left out: {error}")
            continue
        factories.append(_factory(made, account.settings))
    if not factories:
        say("None of the configured platforms can be used.")
        raise typer.Exit(EXIT_BAD_CONFIG)
    plan = Plan(
        config=loaded,
        adapters=factories,
        operators=frozenset({TERMINAL_PLATFORM}),
        join=_joining(loaded),
        hang_up=_reloading(config, log_level),
    )
    raise typer.Exit(_serve(plan))


def chat(
    config: ConfigFile = None,
    once: Annotated[str | None, typer.Option(help="Send this one message, print the answer and end.")] = None,
    log_level: LogLevel = None,
) -> None:
    """Talk to the agent in this terminal; lines from a pipe are answered one after the other.

    Joins the daemon that serves the state directory, if one runs.
    """
    loaded = load(config)
    try:
        code = asyncio.run(_join(loaded, once))
    except NoDaemon:
        _serve_terminal(loaded, once=once, log_level=log_level)
    except ParleyError as error:
        say(str(error))
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    raise typer.Exit(code)


async def _join(loaded: Config, once: str | None) -> int:
    """Be a terminal of the running daemon; returns the exit code.

    Raises:
        NoDaemon: there is none.
        ParleyError: it does not let us in, or went away for good.
    """

    def make(account: str, gateway: RemoteGateway) -> Any:
        start_logging(loaded, "error")
        _greet(once, where="the daemon" if account == "local" else f"the daemon as {account}")
        return TERMINAL.load_adapter()(_terminal_settings(loaded, once=once, account=account), gateway)

    adapter = await RemoteGateway(loaded.state_dir / SOCKET, _account(once), say=say).run(make)
    return int(adapter.exit_code)


def _serve_terminal(loaded: Config, *, once: str | None, log_level: str | None) -> NoReturn:
    """Be a daemon of our own with this terminal."""
    # The screen belongs to the conversation: what goes wrong for its user is said there anyway.
    start_logging(loaded, log_level or "error")
    made = TERMINAL.load_adapter()
    adapters: list[Any] = []

    def factory(api: Any) -> Any:
        adapters.append(made(_terminal_settings(loaded, once=once, account=_account(once)), api))
        return adapters[-1]

    _greet(once, where=loaded.agents["default"].model)
    plan = Plan(
        config=loaded,
        adapters=[factory],
        operators=frozenset({TERMINAL_PLATFORM}),
        leave_with=TERMINAL_PLATFORM,
        demo_delay_s=0.02 if _is_interactive() else 0.0,
        join=_joining(loaded),
    )
    code = _serve(plan)
    raise typer.Exit(code or adapters[0].exit_code)


def _greet(once: str | None, *, where: str) -> None:
    if _is_interactive() and once is None:
        say(f"Talking to {where}. /help lists commands, help what to try with the demo; Ctrl-D leaves.")


def _account(once: str | None) -> str:
    """Whose conversation it is: the person's at this terminal, or one of its own for a script or a pipe."""
    return "local" if _is_interactive() and once is None else f"script-{secrets.token_hex(4)}"


def _terminal_settings(loaded: Config, *, once: str | None, account: str = "local") -> Any:
    history = loaded.state_dir / "history" if _is_interactive() else None
    return TERMINAL.load_settings()(
        once=once, history_file=history, account=account, files_dir=_files(loaded)
    )


def _joining(loaded: Config) -> JoinTerminal:
    joined: JoinTerminal = partial(TERMINAL.load_joined(), files_dir=_files(loaded))
    return joined


def _files(loaded: Config) -> Path:
    """Where files for people at terminals are put."""
    return loaded.state_dir / "files"


def _is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _serve(plan: Plan) -> int:
    try:
        code = asyncio.run(run_daemon(plan))
    except ParleyError as error:
        say(str(error))
        raise typer.Exit(EXIT_BAD_CONFIG if isinstance(error, ConfigError) else 1) from None
    if code == EXIT_RESTART and "INVOCATION_ID" not in os.environ:  # set by systemd, which starts it again
        say(f"A restart was asked for (exit {EXIT_RESTART}); nobody here does it: start me again.")
    return code


def _reloading(path: Path | None, log_level: str | None) -> Callable[[], None]:
    """What SIGHUP does: the log section of the configuration is read again, nothing else."""

    def reload() -> None:
        try:
            loaded = read(path)
        except ConfigError as error:
            log.error("config.not_reloaded", reason="; ".join(str(problem) for problem in error.problems))
            return
        start_logging(loaded, log_level or loaded.log.level)
        log.info("config.log_reloaded", shown_from=log_level or loaded.log.level)

    return reload


def _factory(made: Any, settings: Any) -> AdapterFactory:
    return lambda api: made(settings, api)
