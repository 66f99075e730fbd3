"""What every command needs first: its options, the configuration, and words on the error output."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from adapters import find_adapters
from gateway.config import EXIT_BAD_CONFIG, Config, ConfigError, load_config
from gateway.errors import AdapterError
from gateway.observability import log_uncaught, setup_logging
from gateway.redaction import Redactor

ConfigFile = Annotated[
    Path | None, typer.Option("-c", "--config", help="Configuration file.", show_default=False)
]
LogLevel = Annotated[
    str | None, typer.Option(help="debug, info, warning or error; overrides log.level.", show_default=False)
]

TERMINAL_PLATFORM = "terminal"


def load(path: Path | None) -> Config:
    """The configuration; what is wrong with it is said, and ends the program with 78."""
    try:
        return read(path)
    except ConfigError as error:
        for problem in error.problems:
            say(str(problem))
        raise typer.Exit(EXIT_BAD_CONFIG) from None


def read(path: Path | None) -> Config:
    """The configuration.

    Raises:
        ConfigError: it is wrong.
    """
    return load_config(path=path, environ=os.environ, sections=sections(), platforms=(TERMINAL_PLATFORM,))


def sections() -> Mapping[str, Any]:
    """The settings models of all platforms that can be imported."""
    found = {}
    for name, entry in find_adapters().items():
        try:
            found[name] = entry.load_settings()
        except AdapterError as error:
            say(f"{name} is left out: {error}")
    return found


def start_logging(loaded: Config, level: str) -> None:
    """Log as the configuration says, at this level."""
    setup_logging(
        level=level,
        format=loaded.log.format,
        libraries=loaded.log.libraries,
        redactor=Redactor(loaded.secrets()),
    )
    log_uncaught()


def say(text: str) -> None:
    """One line for a person, on the error output."""
    typer.echo(text, err=True)
