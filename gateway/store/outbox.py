"""The outbox: one row per message to show, in order per destination, each in a state that survives a crash.

    queued ──claim──▶ sending ──▶ sent
       ▲                 ├──▶ failed   (refused for good; never blocks the next)
       └──── retry ──────┼
                         └──▶ unknown  (no answer: maybe shown, maybe not)

`sending` is committed before the request goes out, so a crash in between is seen afterwards. Rows of a reply that
is still being written have one more state, see `previews`.
"""

import json
from dataclasses import dataclass
from typing import Literal

from gateway.document import Document, from_json, to_json
from gateway.messages import Author, Button, OutboundFile, OutboundMessage, Target
from gateway.store import enclosures
from gateway.store.tx import Row, Tx

Kind = Literal["text", "card", "notice", "edit"]

OPEN = "state IN ('queued', 'sending')"
"""The words of the index of open rows. SQLite uses it only for queries that say the same, narrower ones included."""

SHOWN_AGAIN = "unknown, sent again"
SENT_AGAIN, DROPPED = "sent again by the operator", "dropped by the operator"
REPLACED = f"('superseded', '{SHOWN_AGAIN}', '{SENT_AGAIN}', '{DROPPED}')"
"""What `failed` rows say that are no dead letters: something newer took their place, or somebody let them go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message to be put into the outbox.

    `part` names it within its turn, so that it can only be put there once. `request_id`: a card that shows this
    request. `edits`: the outbox row whose message this one replaces (newer edits supersede unsent older ones).
    `growing`: its text is not the last, see `previews`. `file`: the body is its caption. The rest is as in
    `OutboundMessage`.
    """

    target: Target
    kind: Kind
    body: Document
    idem_key: str
    buttons: tuple[tuple[Button, ...], ...] = ()
    reply_to: str | None = None
    turn_id: int | None = None
    part: str | None = None
    request_id: int | None = None
    edits: int | None = None
    growing: bool = False
    file: OutboundFile | None = None
    author: Author | None = None
    reader_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A row in state `sending`: `message` is what to show; `edits` the platform id of the message to replace.

    `ends_stream`: that message is the row's own, which was shown before its text was complete.
    `unsure_since_ms`: when the first try began that may have shown it; None if none can have. `tried`: what that
    try said, if the message says something else by now.
    """

    id: int
    kind: Kind
    message: OutboundMessage
    attempts: int
    turn_id: int | None
    edits: str | None = None
    ends_stream: bool = False
    unsure_since_ms: int | None = None
    tried: Document | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A row that failed or may not have arrived (`is_unknown`), as it was to be shown."""

    message: OutboundMessage
    kind: Kind
    turn_id: int | None
    request_id: int | None
    part: str
    is_unknown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYet:
    """Nothing of this destination may go out before `at_ms`."""

    at_ms: int


def dest_of(target: Target) -> str:
    """The destination's name: order is kept and waits are counted within one."""
    return json.dumps([target.platform, target.account, target.chat_id, target.thread_id])


def target_of(dest: str) -> Target:
    """Back from `dest_of`."""
    platform, account, chat_id, thread_id = json.loads(dest)
    return Target(platform=platform, account=account, chat_id=chat_id, thread_id=thread_id)


def resolved(tx: Tx, dest: str) -> str:
    """The destination's name now: a chat may have moved (`gateway.store.moves`)."""
    place = tx.row("SELECT moved_to FROM destinations WHERE dest = :dest", dest=dest)
    return dest if place is None or place["moved_to"] is None else str(place["moved_to"])


def add(tx: Tx, draft: Draft, now_ms: int) -> int | None:
    """Queue a draft; returns the row's id, or None if its turn has this part already."""
    dest = resolved(tx, dest_of(draft.target))
    place = tx.row(
        "INSERT INTO destinations (dest, platform, account, next_seq) VALUES (:dest, :platform, :account, 2)"
        " ON CONFLICT (dest) DO UPDATE SET next_seq = destinations.next_seq + 1 RETURNING next_seq - 1 AS seq",
        dest=dest,
        platform=draft.target.platform,
        account=draft.target.account,
    )
    assert place is not None
    if draft.edits is not None:
        tx.run(
            "UPDATE outbox SET state = 'failed', error = 'superseded', settled_at = :now"
            " WHERE edits = :edits AND state = 'queued'",
            now=now_ms,
            edits=draft.edits,
        )
    row = tx.row(
        "INSERT INTO outbox (dest, dest_seq, turn_id, part, kind, payload, preview, idem_key, request_id, edits, state,"
        " created_at) VALUES (:dest, :seq, :turn, :part, :kind, :payload, :preview, :key, :request, :edits,"
        " 'queued', :now)"
        " ON CONFLICT (turn_id, part) DO NOTHING RETURNING id",
        dest=dest,
        seq=place["seq"],
        turn=draft.turn_id,
        part=draft.part,
        kind=draft.kind,
        payload=_payload(draft),
        preview="growing" if draft.growing else None,
        key=draft.idem_key,
        request=draft.request_id,
        edits=draft.edits,
        now=now_ms,
    )
    return int(row["id"]) if row else None


def claim(
    tx: Tx, dest: str, now_ms: int, *, max_age_ms: int | None = None, sends_from_ms: int = 0
) -> Claimed | NotYet | None:
    """Mark the destination's next row `sending` and return it; None if nothing is queued.

    What is older than `max_age_ms`, cannot be read or edits what never arrived fails on the way. A new message
    is none before `sends_from_ms`; edits may go out sooner.
    """
    place = tx.row("SELECT paused_at, paused_until, gone FROM destinations WHERE dest = :dest", dest=dest)
    if place is None:
        return None
    if place["gone"] is not None:
        tx.run(
            "UPDATE outbox SET state = 'failed', error = :why, settled_at = :now"
            f" WHERE dest = :dest AND state = 'queued' AND {OPEN}",
            why=place["gone"],
            now=now_ms,
            dest=dest,
        )
        return None
    while (row := _first_queued(tx, dest)) is not None:
        if row["edits_dest"] not in {None, dest} and _message(row).buttons:
            send_anew(tx, row["id"])
            continue
        why_not = _why_not(row, now_ms, max_age_ms)
        if why_not is not None:
            settle(tx, row["id"], state="failed", error=why_not, now_ms=now_ms)
            continue
        due = max(
            _end(place["paused_at"], place["paused_until"], now_ms),
            _end(row["tried_at"] or 0, row["next_at"], now_ms),
            sends_from_ms if row["edits"] is None and row["platform_msg_id"] is None else 0,
        )
        if due > now_ms:
            return NotYet(at_ms=due)
        tx.run(
            "UPDATE outbox SET state = 'sending', attempts = attempts + 1, tried_at = :now WHERE id = :id",
            now=now_ms,
            id=row["id"],
        )
        return Claimed(
            id=row["id"],
            kind=row["kind"],
            message=_message(row),
            attempts=row["attempts"] + 1,
            turn_id=row["turn_id"],
            edits=row["platform_msg_id"] if row["edits"] is None else row["edits_msg_id"],
            ends_stream=row["platform_msg_id"] is not None,
            unsure_since_ms=row["unsure_since"],
            tried=_tried(row),
        )
    return None


def _first_queued(tx: Tx, dest: str) -> Row | None:
    return tx.row(
        "SELECT o.*, e.platform_msg_id AS edits_msg_id, e.dest AS edits_dest"
        " FROM outbox o LEFT JOIN outbox e ON e.id = o.edits"
        f" WHERE o.dest = :dest AND o.state = 'queued' AND o.{OPEN} ORDER BY o.dest_seq LIMIT 1",
        dest=dest,
    )


def _end(begin_ms: int, end_ms: int, now_ms: int) -> int:
    """When a wait ends; one that begins in the future is of a clock that was put back, and could last for hours."""
    return end_ms if begin_ms <= now_ms else 0


def _why_not(row: Row, now_ms: int, max_age_ms: int | None) -> str | None:
    """Why a row will never be sent, if so."""
    if max_age_ms is not None and now_ms - row["created_at"] > max_age_ms:
        return f"too old: it waited longer than {max_age_ms / 3_600_000:g} hours"
    if row["edits"] is not None and (row["edits_msg_id"] is None or row["edits_dest"] != row["dest"]):
        return "nothing to edit"  # the message to change never (certainly) arrived, or its chat has moved
    try:
        _message(row)
    except (ValueError, LookupError, TypeError):
        return "unreadable"  # damaged: it must not hold up what comes after it
    return None


def settle(
    tx: Tx,
    row_id: int,
    *,
    state: Literal["sent", "failed", "unknown"],
    now_ms: int,
    platform_msg_id: str | None = None,
    error: str | None = None,
) -> None:
    """The row's end, as far as it is known."""
    tx.run(
        "UPDATE outbox SET state = :state, platform_msg_id = COALESCE(:msg, platform_msg_id), error = :error,"
        " settled_at = :now WHERE id = :id",
        state=state,
        msg=platform_msg_id,
        error=error,
        now=now_ms,
        id=row_id,
    )


def retry(tx: Tx, row_id: int, *, at_ms: int, error: str, unsure: bool = False) -> None:
    """Back into the queue, not before `at_ms`; its followers wait for it. `unsure`: this try may have shown it."""
    since = ", unsure_since = COALESCE(unsure_since, tried_at)" if unsure else ""
    tx.run(
        f"UPDATE outbox SET state = 'queued', next_at = :at, error = :error{since} WHERE id = :id",
        at=at_ms,
        error=error,
        id=row_id,
    )


def strip_markup(tx: Tx, row_id: int) -> None:
    """The platform refused the row's formatting: it goes out once more as plain text."""
    row = tx.row("SELECT payload FROM outbox WHERE id = :id", id=row_id)
    assert row is not None
    payload = json.loads(row["payload"]) | {"plain": True}
    tx.run(
        "UPDATE outbox SET state = 'queued', payload = :payload WHERE id = :id",
        payload=json.dumps(payload, ensure_ascii=False),
        id=row_id,
    )


def send_anew(tx: Tx, row_id: int) -> None:
    """The message to edit cannot be edited any more: show the new content as a message of its own."""
    tx.run("UPDATE outbox SET state = 'queued', kind = 'card', edits = NULL WHERE id = :id", id=row_id)


def pause(tx: Tx, dest: str, now_ms: int, until_ms: int) -> None:
    """Nothing goes to this destination from now until then."""
    tx.run(
        "UPDATE destinations SET paused_at = :now, paused_until = :until WHERE dest = :dest",
        now=now_ms,
        until=until_ms,
        dest=dest,
    )


def mark_gone(tx: Tx, dest: str, why: str) -> None:
    """This chat takes no more messages, until somebody writes from it again."""
    tx.run("UPDATE destinations SET gone = :why WHERE dest = :dest", why=why, dest=dest)


def mark_back(tx: Tx, target: Target) -> None:
    """Somebody wrote from this chat: it takes messages again."""
    tx.run(
        "UPDATE destinations SET gone = NULL WHERE dest = :dest AND gone IS NOT NULL", dest=dest_of(target)
    )


def interrupted(tx: Tx) -> list[tuple[int, str, Kind, int | None]]:
    """Rows left in `sending` by a process that is no more, as (id, dest, kind, turn id).

    The last edit of a streamed message is an edit like any other: the same twice shows the same.
    """
    rows = tx.rows(
        "SELECT id, dest, turn_id, CASE WHEN platform_msg_id IS NULL THEN kind ELSE 'edit' END AS kind"
        f" FROM outbox WHERE state = 'sending' AND {OPEN} ORDER BY dest, dest_seq"
    )
    return [(row["id"], row["dest"], row["kind"], row["turn_id"]) for row in rows]


def open_dests(tx: Tx, platform: str, account: str) -> list[str]:
    """The destinations of an account that have something queued."""
    rows = tx.rows(
        "SELECT d.dest FROM destinations d WHERE d.platform = :platform AND d.account = :account AND EXISTS"
        f" (SELECT 1 FROM outbox o WHERE o.dest = d.dest AND o.{OPEN})",
        platform=platform,
        account=account,
    )
    return [row["dest"] for row in rows]


def has_open(tx: Tx, dest: str) -> bool:
    """Whether anything is still to go out to this destination."""
    sql = f"SELECT 1 AS x FROM outbox WHERE dest = :dest AND {OPEN} LIMIT 1"
    return tx.row(sql, dest=dest) is not None


def unknown(tx: Tx, dest: str) -> list[int]:
    """The rows of a destination that may not have arrived, in order."""
    rows = tx.rows(
        "SELECT id FROM outbox WHERE dest = :dest AND state = 'unknown' ORDER BY dest_seq", dest=dest
    )
    return [row["id"] for row in rows]


def letter(tx: Tx, row_id: int) -> Letter | None:
    """A row that failed or may not have arrived; None for any other."""
    row = tx.row(
        "SELECT * FROM outbox WHERE id = :id AND state IN ('failed', 'unknown') AND kind != 'edit'", id=row_id
    )
    if row is None:
        return None
    return Letter(
        message=_message(row),
        kind=row["kind"],
        turn_id=row["turn_id"],
        request_id=row["request_id"],
        part=row["part"] or "",
        is_unknown=row["state"] == "unknown",
    )


def queued_change(tx: Tx, row_id: int) -> int | None:
    """The row that is to change this one's message and still shows buttons, if one waits."""
    row = tx.row("SELECT * FROM outbox WHERE edits = :id AND state = 'queued' ORDER BY id DESC", id=row_id)
    return int(row["id"]) if row is not None and _message(row).buttons else None


def has_arrived(tx: Tx, row_id: int) -> bool:
    """Whether a row is known to be shown, by a press of its buttons, though its sending never ended."""
    row = tx.row("SELECT state FROM outbox WHERE id = :id", id=row_id)
    return row is not None and row["state"] == "sent"


def close_letter(tx: Tx, row_id: int, why: str) -> bool:
    """Settle such a row for good; False if it is none, or was closed before."""
    return (
        tx.run(
            "UPDATE outbox SET state = 'failed', error = :why, preview = NULL WHERE id = :id AND kind != 'edit'"
            f" AND (state = 'unknown' OR state = 'failed' AND COALESCE(error, '') NOT IN {REPLACED})",
            why=why,
            id=row_id,
        )
        == 1
    )


def cards_of(tx: Tx, request_id: int) -> list[int]:
    """The rows whose messages show this request's buttons."""
    rows = tx.rows(
        "SELECT id FROM outbox WHERE request_id = :request AND kind = 'card' ORDER BY id",
        request=request_id,
    )
    return [row["id"] for row in rows]


def live_card(tx: Tx, turn_id: int, card: str) -> int | None:
    """The row of a round's card if its message can still be changed: shown, or about to be."""
    row = tx.row(
        "SELECT id, state FROM outbox WHERE turn_id = :turn AND part LIKE :part AND kind = 'card'"
        " ORDER BY id DESC LIMIT 1",
        turn=turn_id,
        part=f"{card}:%",
    )
    return int(row["id"]) if row and row["state"] in ("queued", "sending", "sent") else None


def learn_card(tx: Tx, request_id: int, token: str, message_id: str, now_ms: int) -> None:
    """A press tells which message shows its button: a card of unknown fate has arrived after all.

    Also one that is still being sent as far as is known here, and one that was shown again meanwhile.
    """
    tx.run(
        "UPDATE outbox SET state = 'sent', platform_msg_id = :msg, error = NULL, settled_at = :now"
        " WHERE request_id = :request AND kind = 'card' AND platform_msg_id IS NULL"
        f" AND (state IN ('unknown', 'sending') OR state = 'failed' AND error = '{SHOWN_AGAIN}')"
        " AND payload LIKE :holds",
        msg=message_id,
        now=now_ms,
        request=request_id,
        holds=f"%{token}%",
    )


def point_card(tx: Tx, row_id: int, request_id: int) -> None:
    """The card now shows another request of its round."""
    tx.run("UPDATE outbox SET request_id = :request WHERE id = :id", request=request_id, id=row_id)


def _payload(draft: Draft) -> str:
    return json.dumps(
        {
            "body": to_json(draft.body),
            "buttons": [[[b.label, b.token, b.style] for b in line] for line in draft.buttons],
            "reply_to": draft.reply_to,
            "plain": False,
            "file": enclosures.to_json(draft.file),
            "author": [draft.author.name, draft.author.avatar] if draft.author else None,
            "reader_id": draft.reader_id,
        },
        ensure_ascii=False,
    )


def _tried(row: Row) -> Document | None:
    raw = json.loads(row["payload"]).get("tried")
    return from_json(raw) if raw is not None and row["unsure_since"] is not None else None


def _message(row: Row) -> OutboundMessage:
    payload = json.loads(row["payload"])
    return OutboundMessage(
        target=target_of(row["dest"]),
        body=from_json(payload["body"]),
        idem_key=row["idem_key"],
        buttons=tuple(
            tuple(Button(label=label, token=token, style=style) for label, token, style in line)
            for line in payload["buttons"]
        ),
        reply_to=payload["reply_to"],
        plain=payload["plain"],
        growing=row["preview"] is not None,
        file=enclosures.from_json(payload.get("file")),
        author=Author(name=author[0], avatar=author[1]) if (author := payload["author"]) else None,
        reader_id=payload["reader_id"],
    )
