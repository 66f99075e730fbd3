"""`parley pair`, `grants`, `audit`, `user`: who is let in, what was allowed beforehand, what was decided, whose data.

All of it is asked of the running daemon over its control socket; without one, each says so and ends with 1.
"""

import json
import time
from typing import Annotated, Any

import typer

from gateway.cli.asking import ask_daemon
from gateway.cli.loading import ConfigFile, load, say
from gateway.cli.tables import age, show_table
from gateway.control import NoDaemon

pair_app = typer.Typer(help="Let people in by their codes.", no_args_is_help=True)
audit_app = typer.Typer(help="The log of decisions.", no_args_is_help=True)
user_app = typer.Typer(help="One person's data.", no_args_is_help=True)

Person = Annotated[str, typer.Argument(help="platform:user id")]


@pair_app.command("list")
def list_pairings(config: ConfigFile = None) -> None:
    """Who asked, who was let in."""
    found = _ask(config, "pairings")
    show_table(
        ("person", "state", "code good for", "decided by"),
        [(p["person"], p["state"], _left(p["expires_at"]), p["decided_by"] or "") for p in found],
        empty="Nobody has asked.",
    )


@pair_app.command()
def approve(code: str, config: ConfigFile = None) -> None:
    """Let the holder of a code in."""
    _tell(_ask(config, "approve_pairing", code=code))


@pair_app.command()
def revoke(person: Person, config: ConfigFile = None) -> None:
    """Let a person in no more."""
    _tell(_ask(config, "revoke_pairing", person=person))


def grants(
    config: ConfigFile = None,
    revoke: Annotated[int | None, typer.Option(metavar="ID", help="Take this one back.")] = None,
) -> None:
    """What people allowed beforehand; take it back."""
    if revoke is not None:
        done = _ask(config, "revoke_grant", id=revoke)
        say("Revoked." if done else f"There is no grant {revoke}.")
        raise typer.Exit(0 if done else 1)
    show_table(
        ("id", "whose", "tool", "what", "granted by", "age"),
        [
            (g["id"], g["subject"], g["tool"], g["words"], g["granted_by"], age(g["granted_at"]))
            for g in _ask(config, "grants")
        ],
        empty="Nothing is allowed beforehand.",
    )


@audit_app.command()
def verify(config: ConfigFile = None) -> None:
    """Whether no row was changed, removed or reordered; exit 1 if one was."""
    found = _ask(config, "verify_audit")
    for fault in found["faults"]:
        typer.echo(json.dumps(fault))
    typer.echo(f"{'broken' if found['faults'] else 'whole'}, newest row: {json.dumps(found['head'])}")
    raise typer.Exit(1 if found["faults"] else 0)


@audit_app.command("export")
def export_audit(config: ConfigFile = None) -> None:
    """Print the whole log as lines of JSON, oldest first."""
    from_seq = 1
    while (page := _ask(config, "audit_page", from_seq=from_seq))["lines"]:
        for line in page["lines"]:
            typer.echo(line)
        from_seq = page["next_seq"]


@user_app.command()
def export(person: Person, config: ConfigFile = None) -> None:
    """Print all that is kept of a person, as JSON."""
    typer.echo(json.dumps(_ask(config, "export_person", person=person), indent=2, ensure_ascii=False))


@user_app.command()
def erase(person: Person, config: ConfigFile = None, yes: bool = False) -> None:
    """Remove all that is kept of a person; the audit log keeps a redacted row."""
    if not yes:
        typer.confirm(f"Remove all that is kept of {person}?", abort=True)
    removed = _ask(config, "erase_person", person=person)
    typer.echo(", ".join(f"{count} {what}" for what, count in removed.items()) or "nothing was kept")


def _ask(config: Any, name: str, **args: object) -> Any:
    folder = load(config).state_dir
    try:
        return ask_daemon(folder, name, **args)
    except NoDaemon:
        say(f"No daemon runs here ({folder}); `parley run` starts one.")
        raise typer.Exit(1) from None


def _tell(decided: dict[str, Any]) -> None:
    say(decided["words"])
    raise typer.Exit(0 if decided["done"] else 1)


def _left(expires_at: int | None) -> str:
    if expires_at is None:
        return ""
    return f"{max(0, round(expires_at / 60_000 - time.time() / 60))} min"
