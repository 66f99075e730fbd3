"""`parley config check`, `show`, `schema`."""

import json

import typer

from gateway.cli.loading import ConfigFile, load, sections
from gateway.config import config_schema, shown, summary

config_app = typer.Typer(help="Look at the configuration.", no_args_is_help=True)


@config_app.command()
def check(config: ConfigFile = None) -> None:
    """Say whether the configuration is right, and what is wrong with it."""
    typer.echo(summary(load(config)))


@config_app.command()
def show(config: ConfigFile = None) -> None:
    """Show every key with its value (secrets masked) and where it was written."""
    for each in shown(load(config)):
        typer.echo(f"{each.key} = {each.text}    # {each.origin}")


@config_app.command()
def schema() -> None:
    """Print the configuration's JSON schema."""
    typer.echo(json.dumps(config_schema(sections()), indent=2))
