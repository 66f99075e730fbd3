"""The command line: `parley run`, `parley chat`, `parley config …`.

The only module that knows the adapter table; it hands it to `config` and `daemon`. Whatever can be wrong before
the daemon serves ends in one line that says what to do, and an exit code: 78 for configuration, 1 for the rest.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from adapters import TERMINAL, find_adapters
from gateway.config import EXIT_BAD_CONFIG, Config, ConfigError, config_schema, load_config, shown, summary
from gateway.daemon import AdapterFactory, Plan, run_daemon
from gateway.errors import AdapterError, ParleyError
from gateway.observability import log_uncaught, setup_logging
from gateway.redaction import Redactor

app = typer.Typer(
    name="parley", help="The gateway between chats and AI agents.", no_args_is_help=True, add_completion=False
)
config_app = typer.Typer(help="Look at the configuration.", no_args_is_help=True)
app.add_typer(config_app, name="config")

ConfigFile = Annotated[
    Path | None, typer.Option("-c", "--config", help="Configuration file.", show_default=False)
]
LogLevel = Annotated[
    str | None, typer.Option(help="debug, info, warning or error; overrides log.level.", show_default=False)
]


@app.command()
def run(config: ConfigFile = None, log_level: LogLevel = None) -> None:
    """Serve all configured platforms; with no token at all, this terminal with the demo model."""
    loaded = _load(config)
    if not loaded.accounts:
        _terminal(loaded, once=None, log_level=log_level)
    _logging(loaded, log_level or loaded.log.level)
    table = find_adapters()
    factories: list[AdapterFactory] = []
    for account in loaded.accounts:
        try:
            made = table[account.platform].load_adapter()
        except AdapterError as error:
            _say(f"{account.platform} is left out: {error}")
            continue
        factories.append(_factory(made, account.settings))
    if not factories:
        _say("None of the configured platforms can be used.")
        raise typer.Exit(EXIT_BAD_CONFIG)
    _serve(Plan(config=loaded, adapters=factories))


@app.command()
def chat(
    config: ConfigFile = None,
    once: Annotated[str | None, typer.Option(help="Send this one message, print the answer and end.")] = None,
    log_level: LogLevel = None,
) -> None:
    """Talk to the agent in this terminal; lines from a pipe are answered one after the other."""
    _terminal(_load(config), once=once, log_level=log_level)


@config_app.command()
def check(config: ConfigFile = None) -> None:
    """Say whether the configuration is right, and what is wrong with it."""
    typer.echo(summary(_load(config)))


@config_app.command()
def show(config: ConfigFile = None) -> None:
    """Show every key with its value (secrets masked) and where it was written."""
    for each in shown(_load(config)):
        typer.echo(f"{each.key} = {each.text}    # {each.origin}")


@config_app.command()
def schema() -> None:
    """Print the configuration's JSON schema."""
    typer.echo(json.dumps(config_schema(_sections()), indent=2))


def main() -> None:
    """The console script."""
    app()


def _terminal(loaded: Config, *, once: str | None, log_level: str | None) -> None:
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    # The screen belongs to the conversation: what goes wrong for its user is said there anyway.
    _logging(loaded, log_level or "error")
    settings = TERMINAL.load_settings()(
        once=once, history_file=loaded.state_dir / "history" if interactive else None
    )
    made = TERMINAL.load_adapter()
    exit_codes: list[Any] = []

    def factory(api: Any) -> Any:
        adapter = made(settings, api)
        exit_codes.append(adapter)
        return adapter

    if interactive and once is None:
        model = loaded.agents["default"].model
        _say(f"Talking to {model}. /help lists commands, help what to try with the demo; Ctrl-D leaves.")
    plan = Plan(
        config=loaded,
        adapters=[factory],
        operators=frozenset({made.platform}),
        leave_with=made.platform,
        demo_delay_s=0.02 if interactive else 0.0,
    )
    code = _serve(plan, leave=False)
    raise typer.Exit(code or exit_codes[0].exit_code)


def _serve(plan: Plan, *, leave: bool = True) -> int:
    try:
        code = asyncio.run(run_daemon(plan))
    except ParleyError as error:
        _say(str(error))
        raise typer.Exit(EXIT_BAD_CONFIG if isinstance(error, ConfigError) else 1) from None
    if leave:
        raise typer.Exit(code)
    return code


def _factory(made: Any, settings: Any) -> AdapterFactory:
    return lambda api: made(settings, api)


def _load(path: Path | None) -> Config:
    try:
        return load_config(path=path, environ=os.environ, sections=_sections(), platforms=("terminal",))
    except ConfigError as error:
        for problem in error.problems:
            _say(str(problem))
        raise typer.Exit(EXIT_BAD_CONFIG) from None


def _sections() -> Mapping[str, Any]:
    sections = {}
    for name, entry in find_adapters().items():
        try:
            sections[name] = entry.load_settings()
        except AdapterError as error:
            _say(f"{name} is left out: {error}")
    return sections


def _logging(loaded: Config, level: str) -> None:
    setup_logging(
        level=level,
        format=loaded.log.format,
        libraries=loaded.log.libraries,
        redactor=Redactor(loaded.secrets()),
    )
    log_uncaught()


def _say(text: str) -> None:
    typer.echo(text, err=True)
