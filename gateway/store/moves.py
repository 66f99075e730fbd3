"""A chat that goes on under another id: its lanes, and what is still to be sent there, go with it.

Messages shown under the old id cannot be changed under the new one, whose numbers begin anew: an edit of one is
shown as a message of its own if it has buttons, else left out (`outbox.claim`), and a reply that was shown while it
was written is shown anew.
"""

from dataclasses import replace

from gateway.messages import Target
from gateway.source import moved_key
from gateway.store.outbox import dest_of, target_of
from gateway.store.tx import Tx


def move_chat(tx: Tx, old: Target, new_id: str) -> list[str]:
    """Move everything of a chat, all its threads; returns the destinations that may have something to send now.

    Repeats are harmless. A conversation that was begun under the new id already stays the current one there; the
    older one then only gets its answers sent to the right place.
    """
    _move_lanes(tx, old, new_id)
    rows = tx.rows(
        "SELECT dest FROM destinations WHERE platform = :platform AND account = :account AND moved_to IS NULL",
        platform=old.platform,
        account=old.account,
    )
    dests = [dest for dest in (str(row["dest"]) for row in rows) if target_of(dest).chat_id == old.chat_id]
    known = [*dests, dest_of(old)] if dest_of(old) not in dests else dests
    return [_move_dest(tx, dest, new_id) for dest in known]


def moved(tx: Tx) -> list[tuple[Target, str]]:
    """All moves so far, in no order: where a chat was, and its id now."""
    rows = tx.rows("SELECT dest, moved_to FROM destinations WHERE moved_to IS NOT NULL")
    return [(target_of(row["dest"]), target_of(row["moved_to"]).chat_id) for row in rows]


def _move_lanes(tx: Tx, old: Target, new_id: str) -> None:
    lanes = tx.rows(
        "SELECT id, key FROM lanes WHERE platform = :platform AND account = :account AND chat_id = :chat",
        platform=old.platform,
        account=old.account,
        chat=old.chat_id,
    )
    for lane in lanes:
        tx.run("UPDATE lanes SET chat_id = :chat WHERE id = :id", chat=new_id, id=lane["id"])
        tx.run(
            "UPDATE lanes SET key = :key WHERE id = :id AND NOT EXISTS (SELECT 1 FROM lanes WHERE key = :key)",
            key=moved_key(lane["key"], new_id),
            id=lane["id"],
        )


def _move_dest(tx: Tx, dest: str, new_id: str) -> str:
    old = target_of(dest)
    new = dest_of(replace(old, chat_id=new_id))
    for name, moved_to in ((new, None), (dest, new)):
        tx.run(
            "INSERT INTO destinations (dest, platform, account, moved_to) VALUES (:dest, :platform, :account, :to)"
            " ON CONFLICT (dest) DO UPDATE SET moved_to = :to",
            dest=name,
            platform=old.platform,
            account=old.account,
            to=moved_to,
        )
    waiting = tx.rows(
        "SELECT id FROM outbox WHERE dest = :dest AND state IN ('queued', 'unknown', 'growing') ORDER BY dest_seq",
        dest=dest,
    )
    for row in waiting:
        place = tx.row(
            "UPDATE destinations SET next_seq = next_seq + 1 WHERE dest = :dest RETURNING next_seq - 1 AS seq",
            dest=new,
        )
        assert place is not None
        tx.run(
            "UPDATE outbox SET dest = :dest, dest_seq = :seq, platform_msg_id = NULL,"
            " state = CASE state WHEN 'growing' THEN 'queued' ELSE state END WHERE id = :id",
            dest=new,
            seq=place["seq"],
            id=row["id"],
        )
    return new
