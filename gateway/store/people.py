"""All that is kept of one person (`platform:user`): to be handed out, or to be removed.

A person's turns are those they opened; with each go its events, transcript, model history, messages and cards. What
others said to or about them stays theirs. Of the audit log see `gateway.store.audit.blank`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.source import is_direct
from gateway.store import lanes
from gateway.store.outbox import target_of
from gateway.store.tx import Row, Tx

_TURNS = "(SELECT id FROM turns WHERE requester = :who)"
_MIXED = (
    "(SELECT session_id FROM agent_state WHERE mixed = 1 AND session_id IN"
    " (SELECT session_id FROM turns WHERE requester = :who))"
)
_ASKED = "(SELECT id FROM requests WHERE requester = :who)"

# What is handed out: table → which rows, and which columns.
_KEPT: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "turns": (
        "requester = :who",
        ("id", "lane_id", "session_id", "agent", "state", "input", "created_at", "finished_at", "error"),
    ),
    "messages": (
        f"author = :who OR turn_id IN {_TURNS}",
        ("session_id", "turn_id", "role", "author", "body", "at"),
    ),
    "turn_events": (f"turn_id IN {_TURNS}", ("turn_id", "idx", "kind", "payload", "at")),
    "agent_state": (f"turn_id IN {_TURNS}", ("session_id", "agent", "turn_id", "message")),
    "tasks": (f"turn_id IN {_TURNS}", ("session_id", "agent", "goal", "upstream", "state", "at")),
    "task_ends": (f"turn_id IN {_TURNS}", ("session_id", "agent", "summary", "state", "at")),
    "requests": (
        "requester = :who",
        ("turn_id", "kind", "state", "prompt", "created_at", "decided_by", "decided_at", "reason", "answer"),
    ),
    "grants": (
        "subject = :who",
        ("scope", "server", "tool", "pattern", "granted_by", "granted_at", "expires_at", "revoked_at"),
    ),
    "memory": ("subject = :who", ("text", "source", "at")),
    "usage": ("subject = :who", ("day", "messages", "tokens", "usd_micros", "unpriced")),
    "turn_usage": (
        f"turn_id IN {_TURNS}",
        (
            "turn_id",
            "model",
            "requests",
            "input_tokens",
            "output_tokens",
            "cached_tokens",
            "usd_micros",
            "at",
        ),
    ),
    "pairings": (
        "platform = :platform AND user_id = :user",
        ("account", "state", "told_at", "expires_at", "decided_by"),
    ),
    "audit": (
        "actor = :who OR target = :who OR instr(detail, :quoted) > 0",
        ("seq", "at", "actor", "action", "target", "detail"),
    ),
}

# What is removed, children first.
_REMOVED: tuple[tuple[str, str], ...] = (
    ("turn_events", f"turn_id IN {_TURNS}"),
    ("messages", f"author = :who OR turn_id IN {_TURNS}"),
    # A summary may hold what several people said: what a session's agent knew goes as a whole then.
    ("agent_state", f"turn_id IN {_TURNS} OR session_id IN {_MIXED}"),
    ("tasks", f"turn_id IN {_TURNS}"),
    ("task_ends", f"turn_id IN {_TURNS}"),
    ("turn_messages", f"turn_id IN {_TURNS}"),
    ("outbox", f"turn_id IN {_TURNS} OR request_id IN {_ASKED}"),
    ("buttons", f"request_id IN {_ASKED}"),
    ("votes", f"voter = :who OR request_id IN {_ASKED}"),
    ("grants", "subject = :who"),
    ("requests", "requester = :who"),
    ("turn_usage", f"turn_id IN {_TURNS}"),
    ("turns", "requester = :who"),
    ("memory", "subject = :who"),
    ("memory_baselines", "subject = :who"),
    ("review_counts", "subject = :who"),
    ("usage", "subject = :who"),
    ("told", r"subject LIKE :told ESCAPE '\'"),
    ("pairings", "platform = :platform AND user_id = :user"),
)


def gather(tx: Tx, person: str) -> dict[str, list[dict[str, Any]]]:
    """All rows about a person, by table; times are UTC milliseconds, texts as they were said."""
    found: dict[str, list[dict[str, Any]]] = {}
    for table, (where, columns) in _KEPT.items():
        rows = tx.rows(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", **_named(person, where))
        found[table] = [{column: row[column] for column in columns} for row in rows]
    return found


def turn_ids(tx: Tx, person: str) -> list[int]:
    """The turns a person opened."""
    return [
        row["id"] for row in tx.rows("SELECT id FROM turns WHERE requester = :who ORDER BY id", who=person)
    ]


def erase(tx: Tx, person: str) -> dict[str, int]:
    """Remove all rows about a person but those of the audit log; returns how many, by table.

    What of theirs runs at the moment is fenced off: it writes nothing more.
    """
    own = _lanes_of(tx, person)
    for lane in own:
        tx.run("UPDATE lanes SET epoch = epoch + 1, owner = NULL WHERE id = :id", id=lane["id"])
    # The keys stay until they are old: without them a repeated update would be taken for a new one.
    tx.run(
        f"UPDATE inbox SET turn_id = NULL, place = NULL, message_id = NULL WHERE turn_id IN {_TURNS}",
        who=person,
    )
    removed = {
        table: tx.run(f"DELETE FROM {table} WHERE {where}", **_named(person, where))
        for table, where in _REMOVED
    }
    for nameless in (
        "UPDATE requests SET decided_by = 'somebody', decider = NULL, reason = NULL WHERE decider = :who",
        "UPDATE grants SET granted_by = 'somebody' WHERE granted_by = :who",
        "UPDATE pairings SET decided_by = 'somebody' WHERE decided_by = :who",
        "UPDATE switches SET set_by = 'somebody' WHERE set_by = :who",
    ):
        tx.run(nameless, who=person)
    for lane in own:
        _leave(tx, lane)
    return removed


def _lanes_of(tx: Tx, person: str) -> Sequence[Row]:
    return tx.rows(
        "SELECT id, key, platform, account, chat_id FROM lanes"
        " WHERE id IN (SELECT lane_id FROM turns WHERE requester = :who)",
        who=person,
    )


def _leave(tx: Tx, lane: Row) -> None:
    """A lane whose turns were all the person's goes too; in a shared one the titles go, which may quote them."""
    if tx.row("SELECT 1 AS x FROM turns WHERE lane_id = :id LIMIT 1", id=lane["id"]) is not None:
        tx.run("UPDATE sessions SET title = NULL WHERE lane_id = :id", id=lane["id"])
        lanes.rest_if_empty(tx, lane["id"])
        return
    tx.run("DELETE FROM sessions WHERE lane_id = :id", id=lane["id"])
    tx.run("DELETE FROM lanes WHERE id = :id", id=lane["id"])
    if is_direct(lane["key"]):
        tx.run(
            "UPDATE inbox SET place = NULL, message_id = NULL"
            " WHERE platform = :platform AND account = :account AND place = :chat",
            platform=lane["platform"],
            account=lane["account"],
            chat=lane["chat_id"],
        )
        for row in tx.rows(
            "SELECT dest FROM destinations WHERE platform = :platform AND account = :account",
            platform=lane["platform"],
            account=lane["account"],
        ):
            if target_of(row["dest"]).chat_id == lane["chat_id"]:
                tx.run("DELETE FROM outbox WHERE dest = :dest", dest=row["dest"])
                tx.run("DELETE FROM destinations WHERE dest = :dest", dest=row["dest"])


def _named(person: str, where: str) -> dict[str, object]:
    platform, _, user_id = person.partition(":")
    values: dict[str, object] = {
        "who": person,
        "platform": platform,
        "user": user_id,
        "quoted": json.dumps(person, ensure_ascii=False),
        "told": "% " + re.sub(r"([%_\\])", r"\\\1", person),
    }
    return {name: value for name, value in values.items() if f":{name}" in where}
