"""`parley status`, `turns`, `outbox`, `requests`, `sessions`, `why`: a look at the daemon.

Asked over its control socket. Without a daemon the lists come from the database, read-only, after a line that says so.
Exit codes: 0; 1 it cannot be done; 3 (`status`) no daemon runs.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.loading import ConfigFile, load, say
from gateway.cli.tables import age, show_table, size
from gateway.control import SOCKET, NoDaemon, ask
from gateway.errors import ParleyError
from gateway.limits import spent_words
from gateway.requests.faces import face_of
from gateway.store import overview
from gateway.store.sqlite import look
from gateway.store.tx import Tx
from gateway.store.usage import Spent

EXIT_NO_DAEMON = 3

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# What intake stores as an update's fate, in words.
BECAME = {
    "turn": "it became a turn",
    "command": "it was a command and was carried out",
    "press": "it was a press on a button and was answered",
    "ignored": "it was not addressed to the bot, or held nothing to answer",
    "refused": "it was refused: its author may not use the bot here (access.allow), or it was a bot's",
    "lane_full": "its conversation was full (queue.lane_size); its author was told",
    "too_old": "it was too old when it was found (delivery.inbound_max_age_s); its author was told",
    "broken": "it broke something; the log says more",
}


def status(config: ConfigFile = None, as_json: Json = False) -> None:
    """How the daemon is: adapters, turns, tool servers, outbox, database. Exit 3: no daemon runs."""
    folder = load(config).state_dir
    try:
        found = ask_daemon(folder, "status")
    except NoDaemon:
        say(f"No daemon runs here ({folder}); `parley run` starts one.")
        raise typer.Exit(EXIT_NO_DAEMON) from None
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    vitals, counts = found["vitals"], found["counts"]
    doing = "stopping" if vitals["stopping"] else "running"
    typer.echo(f"parley {found['version']}, {doing} for {age(found['started_at'])}")
    for part in vitals["adapters"]:
        typer.echo(f"adapter {part['name']}: {part['trouble'] or 'online'}")
    if found["terminals"]:
        typer.echo(f"terminals: {', '.join(found['terminals'])}")
    for part in vitals["memory"]:
        typer.echo(f"memory {part['name']}: {part['trouble'] or part['detail']}")
    for part in vitals["tools"]:
        typer.echo(f"tools of {part['name']}: {part['trouble'] or part['detail']}")
    typer.echo(
        f"turns: {vitals['running']} running, {vitals['waiting']} waiting for a place,"
        f" {counts['requests']} waiting for a person"
    )
    for spent in found["spent"]:
        typer.echo(f"today {spent_words(Spent(**spent))}")
    typer.echo(f"outbox: {_counted(counts['outbox'])}")
    typer.echo(f"database: {size(found['database_bytes'])}")


def turns(config: ConfigFile = None, as_json: Json = False) -> None:
    """The turns that are open, oldest first."""
    found = _list(load(config).state_dir, "turns", overview.open_turns)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    show_table(
        ("id", "state", "age", "who", "where", "agent", "question"),
        [
            (t["id"], t["state"], age(t["created_at"]), t["requester"], t["place"], t["agent"], t["question"])
            for t in found
        ],
        empty="No turn is open.",
    )


def outbox(
    config: ConfigFile = None,
    retry: Annotated[int | None, typer.Option(metavar="ID", help="Send this one again.")] = None,
    drop: Annotated[int | None, typer.Option(metavar="ID", help="Let this one go.")] = None,
    as_json: Json = False,
) -> None:
    """Messages that did not arrive (dead), or may not have (unknown): look at them, send again, let go."""
    folder = load(config).state_dir
    if retry is not None or drop is not None:
        order, row_id = ("retry", retry) if retry is not None else ("drop", drop)
        try:
            typer.echo(ask_daemon(folder, order, id=row_id))
        except NoDaemon:
            say(f"No daemon runs here ({folder}), and only a daemon sends: start it with `parley run`.")
            raise typer.Exit(1) from None
        return
    found = _list(folder, "outbox", overview.letters)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    show_table(
        ("id", "state", "age", "where", "kind", "why", "text"),
        [
            (r["id"], r["state"], age(r["created_at"]), r["place"], r["kind"], r["why"], r["text"])
            for r in found
        ],
        empty="Everything arrived, as far as is known.",
    )


def requests(config: ConfigFile = None, as_json: Json = False) -> None:
    """What waits for a person's answer."""
    found = _list(load(config).state_dir, "requests", overview.open_requests)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    show_table(
        ("id", "turn", "kind", "age", "who", "where", "what"),
        [
            (
                r["id"],
                r["turn_id"],
                r["kind"],
                age(r["created_at"]),
                r["requester"],
                r["place"],
                _what(r["kind"], r["prompt"]),
            )
            for r in found
        ],
        empty="Nothing waits for an answer.",
    )


def sessions(config: ConfigFile = None, as_json: Json = False) -> None:
    """The last conversations."""
    found = _list(load(config).state_dir, "sessions", overview.sessions)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    show_table(
        ("id", "where", "turns", "last active", "title"),
        [(s["id"], s["place"], s["turns"], age(s["last_active_at"]), s["title"]) for s in found],
        empty="Nobody has spoken yet.",
    )


def why(
    message: Annotated[str, typer.Argument(help="The message's (or update's) id on its platform.")],
    config: ConfigFile = None,
) -> None:
    """Why a message was not answered: what became of it. Exit 1: it never came in, or too long ago."""
    folder = load(config).state_dir
    found = _list(folder, "updates", lambda tx: overview.updates(tx, message), key=message)
    if not found:
        say(f"{message} never came in, or longer ago than retention.inbox_days: ask the platform's side.")
        raise typer.Exit(1)
    for update in found:
        typer.echo(
            f"{update['platform']} {update['account']}, {age(update['received_at'])} ago:"
            f" {BECAME.get(update['became'], update['became'])}."
        )
        if update["turn_id"] is not None:
            error = f" ({update['turn_error']})" if update["turn_error"] else ""
            typer.echo(f"Turn {update['turn_id']} is {update['turn_state']}{error}.")
        if update["answer"]:
            typer.echo(f"It answered: {update['answer']}")


def _list(folder: Path, name: str, offline: Callable[[Tx], list[Any]], **args: object) -> Any:
    """What the daemon answers, or the database says where no daemon runs."""
    try:
        return ask_daemon(folder, name, **args)
    except NoDaemon:
        pass
    try:
        found = look(folder / "parley.db", offline)
    except ParleyError as error:
        say(f"No daemon runs here: {error}.")
        raise typer.Exit(1) from None
    say(f"No daemon runs here ({folder}); this is what its database says.")
    return [asdict(view) for view in found]


def ask_daemon(folder: Path, name: str, **args: object) -> Any:
    """One question to the daemon; a refusal is said and ends the program with 1.

    Raises:
        NoDaemon: there is none.
    """
    try:
        return asyncio.run(ask(folder / SOCKET, name, **args))
    except NoDaemon:
        raise
    except ParleyError as error:
        say(str(error))
        raise typer.Exit(1) from None


def _what(kind: Any, prompt: str) -> str:
    try:
        return face_of(kind, prompt).one_line()
    except (ValueError, LookupError, TypeError):
        return "(cannot be read)"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "empty"
