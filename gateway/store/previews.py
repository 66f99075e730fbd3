"""Outbox rows of a reply that is shown while it is written: one row a message, grown by edits that are no rows.

    queued ──▶ sending ──▶ growing ──finish──▶ queued ──▶ sending ──▶ sent
                                               (as an edit of its own message)

`preview` is set as long as the row's text is not its last. A row that keeps it after a crash belongs to a turn
that goes on, and whose new words replace it in place; the end of a turn leaves none.
"""

import json
from dataclasses import dataclass, replace

from gateway.document import Document, from_json, to_json
from gateway.store import outbox
from gateway.store.outbox import Draft
from gateway.store.tx import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A row whose text is not its last; `message_id` is None as long as nobody knows whether it is shown."""

    id: int
    part: str
    state: str
    body: Document
    message_id: str | None


def begin(tx: Tx, draft: Draft, now_ms: int) -> Preview | None:
    """Queue a draft whose text will grow, or find its row of an earlier attempt; None if that has its last text."""
    row_id = outbox.add(tx, replace(draft, growing=True), now_ms)
    found = tx.row(
        "SELECT * FROM outbox WHERE turn_id = :turn AND part = :part AND preview IS NOT NULL",
        turn=draft.turn_id,
        part=draft.part,
    )
    assert row_id is None or found is not None
    return _preview(found) if found else None


def of_turn(tx: Tx, turn_id: int) -> list[Preview]:
    """The rows of a turn whose text is not their last, in order."""
    rows = tx.rows(
        "SELECT * FROM outbox WHERE turn_id = :turn AND preview IS NOT NULL ORDER BY dest_seq", turn=turn_id
    )
    return [_preview(row) for row in rows]


def shown(tx: Tx, row_id: int, message_id: str, now_ms: int) -> None:
    """The message stands; where its last text came meanwhile, that is the next thing to show."""
    tx.run(
        "UPDATE outbox SET platform_msg_id = :msg, error = NULL, settled_at = :now,"
        " state = CASE WHEN preview IS NULL THEN 'queued' ELSE 'growing' END WHERE id = :id",
        msg=message_id,
        now=now_ms,
        id=row_id,
    )


def write(tx: Tx, row_id: int, body: Document) -> None:
    """What the row says from now on; its state stays, and so does whether more is to come."""
    row = tx.row("SELECT payload, attempts, platform_msg_id FROM outbox WHERE id = :id", id=row_id)
    assert row is not None
    tx.run("UPDATE outbox SET payload = :payload WHERE id = :id", payload=_with(row, body), id=row_id)


def note_tried(tx: Tx, row_id: int, body: Document) -> None:
    """What the try said whose outcome nobody knows: whoever looks for the message looks for this."""
    row = tx.row("SELECT payload FROM outbox WHERE id = :id", id=row_id)
    assert row is not None
    payload = json.loads(row["payload"]) | {"tried": to_json(body)}
    tx.run(
        "UPDATE outbox SET payload = :payload WHERE id = :id",
        payload=json.dumps(payload, ensure_ascii=False),
        id=row_id,
    )


def finish(tx: Tx, row_id: int, body: Document | None, now_ms: int) -> None:
    """Give the row its last text; None: what is shown is the last, and what never was shown shall not be.

    A row of unknown fate stays so: its text is for whoever asks to see it again.
    """
    row = tx.row(
        "SELECT state, payload, attempts, platform_msg_id FROM outbox WHERE id = :id AND preview IS NOT NULL",
        id=row_id,
    )
    if row is None:
        return
    state = row["state"]
    if body is not None and state in {"growing", "failed"}:  # failed: the platform refused the text so far
        state = "queued"
    elif body is None and state in {"growing", "queued"}:
        state = "sent" if state == "growing" else "failed"
    tx.run(
        "UPDATE outbox SET preview = NULL, state = :state, payload = :payload, settled_at = :now WHERE id = :id",
        state=state,
        payload=row["payload"] if body is None else _with(row, body),
        now=now_ms,
        id=row_id,
    )


def send_rest(tx: Tx, row_id: int, rest: Document, idem_key: str) -> None:
    """The row's message cannot be changed any more: what is missing in it goes out as a message of its own."""
    row = tx.row("SELECT payload, 0 AS attempts, platform_msg_id FROM outbox WHERE id = :id", id=row_id)
    assert row is not None
    tx.run(
        "UPDATE outbox SET state = 'queued', platform_msg_id = NULL, unsure_since = NULL, idem_key = :key,"
        " payload = :payload"
        " WHERE id = :id",
        key=idem_key,
        payload=_with(row, rest),
        id=row_id,
    )


def _with(row: Row, body: Document) -> str:
    payload = json.loads(row["payload"])
    if row["platform_msg_id"] is not None:
        payload.pop("tried", None)
    elif row["attempts"]:  # a try said the old text, and it may turn out that it arrived
        payload.setdefault("tried", payload["body"])
    payload |= {"body": to_json(body), "plain": False}
    return json.dumps(payload, ensure_ascii=False)


def _preview(row: Row) -> Preview:
    return Preview(
        id=row["id"],
        part=row["part"],
        state=row["state"],
        body=from_json(json.loads(row["payload"])["body"]),
        message_id=row["platform_msg_id"],
    )
