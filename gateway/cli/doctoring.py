"""`parley doctor`: everything that can be wrong with how Parley is set up, and what to do about it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict

import typer

from adapters import AdapterEntry, find_adapters
from gateway.adapter import Finding
from gateway.cli.asking import Json
from gateway.cli.loading import ConfigFile, read, say, start_logging
from gateway.cli.tables import show_table
from gateway.config import EXIT_BAD_CONFIG, Account, Config, ConfigError
from gateway.doctor import AccountToCheck, Part, examine


def doctor(config: ConfigFile = None, as_json: Json = False) -> None:
    """Look at configuration, tokens, rights, database, tool servers, clock and disk; say what to mend.

    Works with and without a running daemon and changes nothing. Exit codes: 0; 1 something failed;
    78 the configuration is wrong.
    """
    try:
        loaded = read(config)
        start_logging(loaded, "critical")  # what a library would log here is a finding already
        parts = asyncio.run(examine(loaded, _accounts(loaded)))
    except ConfigError as error:
        parts = (_refused(error),)
        _show(parts, as_json=as_json)
        raise typer.Exit(EXIT_BAD_CONFIG) from None
    _show(parts, as_json=as_json)
    raise typer.Exit(int(any(part.state == "failed" for part in parts)))


def _accounts(config: Config) -> list[AccountToCheck]:
    table = find_adapters()
    return [_to_check(table[account.platform], account) for account in config.accounts]


def _to_check(entry: AdapterEntry, account: Account) -> AccountToCheck:
    return AccountToCheck(place=account.place, make=lambda: entry.load_adapter()(account.settings, None))


def _refused(error: ConfigError) -> Part:
    return Part(
        name="configuration",
        findings=tuple(
            Finding(name=problem.where, state="failed", detail=problem.what, fix=problem.fix)
            for problem in error.problems
        ),
    )


def _show(parts: Sequence[Part], *, as_json: bool) -> None:
    rows = [(part.name, finding) for part in parts for finding in part.findings]
    if as_json:
        typer.echo(json.dumps([{"part": name, **asdict(finding)} for name, finding in rows], indent=2))
        return
    show_table(
        ("part", "check", "state", "found", "what to do"),
        [(name, finding.name, finding.state, finding.detail, finding.fix) for name, finding in rows],
        empty="",
    )
    failed, warned = (sum(f.state == state for _, f in rows) for state in ("failed", "warning"))
    say(f"{len(rows)} checks: {failed} failed, {warned} warnings.")
