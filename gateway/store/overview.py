"""What there is to see from outside: read-only views for the console, the command line and the terminal.

Plain functions of a `Tx`, each one list or count. Times are UTC milliseconds; texts are as people wrote them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gateway.document import from_json
from gateway.document.plain import plain
from gateway.store.lanes import OPEN_STATES
from gateway.store.outbox import REPLACED
from gateway.store.tx import Row, Tx

EXCERPT = 200
"""Characters of a text that a list shows."""

# A change that came too late for its message is no letter: nothing is missing in the chat.
_IS_DEAD = f"(state = 'failed' AND kind != 'edit' AND COALESCE(error, '') NOT IN {REPLACED})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """A turn in a list; `place` is `platform:chat`, with `/thread` where there is one."""

    id: int
    session_id: int
    state: str
    requester: str
    agent: str
    place: str
    question: str
    attempt: int
    created_at: int
    started_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterView:
    """An outbox row that did not (certainly) arrive: `dead`, or `unknown` whether it was shown."""

    id: int
    state: Literal["dead", "unknown"]
    kind: str
    place: str
    text: str
    why: str
    attempts: int
    turn_id: int | None
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView:
    """A request that waits for a person; `prompt` is the JSON its card is made from."""

    id: int
    turn_id: int
    kind: str
    requester: str
    place: str
    prompt: str
    created_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """A conversation; the newest of its lane has no `ended_at`."""

    id: int
    place: str
    title: str
    turns: int
    started_at: int
    last_active_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateView:
    """What became of one update: `became` as intake stored it, and the turn's state where it made one."""

    platform: str
    account: str
    key: str
    became: str
    received_at: int
    turn_id: int | None
    turn_state: str | None
    turn_error: str | None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many turns are open, by state, and how many outbox rows are not settled well, by state."""

    turns: Mapping[str, int]
    outbox: Mapping[str, int]
    requests: int


def counts(tx: Tx) -> Counts:
    """See `Counts`; outbox states are queued, sending, growing, unknown and dead."""
    turns = tx.rows(f"SELECT state, COUNT(*) AS n FROM turns WHERE state IN {OPEN_STATES} GROUP BY state")
    rows = tx.rows(
        "SELECT CASE state WHEN 'failed' THEN 'dead' ELSE state END AS state, COUNT(*) AS n FROM outbox"
        f" WHERE state NOT IN ('sent', 'failed') OR {_IS_DEAD} GROUP BY 1"
    )
    pending = tx.row("SELECT COUNT(*) AS n FROM requests WHERE state = 'pending'")
    return Counts(
        turns={row["state"]: row["n"] for row in turns},
        outbox={row["state"]: row["n"] for row in rows},
        requests=pending["n"] if pending else 0,
    )


def open_turns(tx: Tx, most: int = 200) -> list[TurnView]:
    """Turns that have not ended, oldest first."""
    rows = tx.rows(
        "SELECT t.id, t.session_id, t.state, t.requester, t.agent, t.attempt, t.created_at, t.started_at,"
        " l.platform, l.chat_id, l.thread_id, (SELECT m.body FROM messages m WHERE m.turn_id = t.id"
        " AND m.role = 'question' ORDER BY m.id LIMIT 1) AS question"
        f" FROM turns t JOIN lanes l ON l.id = t.lane_id WHERE t.state IN {OPEN_STATES} ORDER BY t.id LIMIT :most",
        most=most,
    )
    return [
        TurnView(
            id=row["id"],
            session_id=row["session_id"],
            state=row["state"],
            requester=row["requester"],
            agent=row["agent"],
            place=_place(row),
            question=(row["question"] or "")[:EXCERPT],
            attempt=row["attempt"],
            created_at=row["created_at"],
            started_at=row["started_at"],
        )
        for row in rows
    ]


def letters(tx: Tx, most: int = 200) -> list[LetterView]:
    """Dead letters and rows of unknown outcome, newest first."""
    rows = tx.rows(
        "SELECT id, dest, kind, state, payload, error, attempts, turn_id, created_at FROM outbox"
        f" WHERE state = 'unknown' OR {_IS_DEAD}"
        " ORDER BY id DESC LIMIT :most",
        most=most,
    )
    return [
        LetterView(
            id=row["id"],
            state="unknown" if row["state"] == "unknown" else "dead",
            kind=row["kind"],
            place=_place_of_dest(row["dest"]),
            text=_words(row["payload"]),
            why=row["error"] or "",
            attempts=row["attempts"],
            turn_id=row["turn_id"],
            created_at=row["created_at"],
        )
        for row in rows
    ]


def open_requests(tx: Tx, most: int = 200) -> list[RequestView]:
    """Requests that wait for a person, oldest first."""
    rows = tx.rows(
        "SELECT r.*, l.platform, l.chat_id, l.thread_id FROM requests r JOIN lanes l ON l.id = r.lane_id"
        " WHERE r.state = 'pending' ORDER BY r.id LIMIT :most",
        most=most,
    )
    return [
        RequestView(
            id=row["id"],
            turn_id=row["turn_id"],
            kind=row["kind"],
            requester=row["requester"],
            place=_place(row),
            prompt=row["prompt"],
            created_at=row["created_at"],
            expires_at=row["expires_at"],
        )
        for row in rows
    ]


def sessions(tx: Tx, most: int = 50) -> list[SessionView]:
    """Conversations, the last active first."""
    rows = tx.rows(
        "SELECT s.id, s.title, s.started_at, s.last_active_at, s.ended_at, l.platform, l.chat_id, l.thread_id,"
        " (SELECT COUNT(*) FROM turns t WHERE t.session_id = s.id AND t.lane_id = s.lane_id) AS turns"
        " FROM sessions s JOIN lanes l ON l.id = s.lane_id ORDER BY s.last_active_at DESC, s.id DESC LIMIT :most",
        most=most,
    )
    return [
        SessionView(
            id=row["id"],
            place=_place(row),
            title=row["title"] or "",
            turns=row["turns"],
            started_at=row["started_at"],
            last_active_at=row["last_active_at"],
            ended_at=row["ended_at"],
        )
        for row in rows
    ]


def updates(tx: Tx, key: str) -> list[UpdateView]:
    """What became of the updates with this id, on any account."""
    rows = tx.rows(
        "SELECT i.*, t.state, t.error, (SELECT m.body FROM messages m WHERE m.turn_id = i.turn_id"
        " AND m.role = 'answer' ORDER BY m.id DESC LIMIT 1) AS answer"
        " FROM inbox i LEFT JOIN turns t ON t.id = i.turn_id WHERE i.update_key = :key"
        " OR t.message_id = :key ORDER BY i.received_at DESC",
        key=key,
    )
    return [
        UpdateView(
            platform=row["platform"],
            account=row["account"],
            key=row["update_key"],
            became=row["became"],
            received_at=row["received_at"],
            turn_id=row["turn_id"],
            turn_state=row["state"],
            turn_error=row["error"],
            answer=(row["answer"] or "")[:EXCERPT],
        )
        for row in rows
    ]


def _place(row: Row) -> str:
    thread = f"/{row['thread_id']}" if row["thread_id"] else ""
    return f"{row['platform']}:{row['chat_id']}{thread}"


def _place_of_dest(dest: str) -> str:
    platform, _, chat_id, thread_id = json.loads(dest)
    return f"{platform}:{chat_id}" + (f"/{thread_id}" if thread_id else "")


def _words(payload: str) -> str:
    try:
        raw = json.loads(payload)
        file = f"[file {raw['file']['name']}] " if raw.get("file") else ""
        return (file + plain(from_json(raw["body"]))).rstrip()[:EXCERPT]
    except (ValueError, LookupError, TypeError):
        return "(cannot be read)"
