"""What is old enough to be forgotten: one function a kind of row, each removing at most so many in a transaction.

Nothing that is open is ever touched: no turn that has not ended, no request that waits, no message still to be
sent, and nothing these refer to. Every function returns how many rows it removed; 0: nothing is left to remove.
"""

from gateway.clock import from_ms
from gateway.store.lanes import OPEN_STATES
from gateway.store.outbox import REPLACED
from gateway.store.tx import Tx


def forget_inbox(tx: Tx, before_ms: int, most: int) -> int:
    """Dedupe keys of updates received before then; a platform that repeats one later is believed."""
    return tx.run(
        "DELETE FROM inbox WHERE (platform, account, update_key) IN"
        " (SELECT i.platform, i.account, i.update_key FROM inbox i WHERE i.received_at < :before AND NOT EXISTS"
        f" (SELECT 1 FROM turns t WHERE t.id = i.turn_id AND t.state IN {OPEN_STATES})"
        " ORDER BY i.received_at LIMIT :most)",
        before=before_ms,
        most=most,
    )


def forget_events(tx: Tx, before_ms: int, most: int, now_ms: int) -> int:
    """All events of turns that ended before then; a turn loses all or none, and remembers that it did.

    At most `most` events, but at least one turn's. The answers stay: they are `messages`.
    """
    ended = tx.rows(
        "SELECT t.id, (SELECT COUNT(*) FROM turn_events e WHERE e.turn_id = t.id) AS events FROM turns t"
        f" WHERE t.finished_at < :before AND t.pruned_at IS NULL AND t.state NOT IN {OPEN_STATES}"
        " ORDER BY t.finished_at LIMIT :most",
        before=before_ms,
        most=most,
    )
    removed = 0
    for turn in ended:
        if removed and removed + turn["events"] > most:
            break
        tx.run("DELETE FROM turn_events WHERE turn_id = :id", id=turn["id"])
        tx.run(
            "DELETE FROM turn_messages WHERE turn_id = :id", id=turn["id"]
        )  # an edit of it changes nothing
        tx.run("UPDATE turns SET pruned_at = :now WHERE id = :id", now=now_ms, id=turn["id"])
        removed += max(1, turn["events"])
    return removed


def forget_sent(tx: Tx, before_ms: int, most: int) -> int:
    """Outbox rows that were sent, or replaced by newer ones, before then."""
    return _forget_outbox(
        tx, f"(o.state = 'sent' OR o.state = 'failed' AND o.error IN {REPLACED})", before_ms, most
    )


def forget_dead_letters(tx: Tx, before_ms: int, most: int) -> int:
    """Outbox rows that failed, or of which nobody knows whether they arrived, before then."""
    return _forget_outbox(
        tx, f"(o.state = 'unknown' OR o.state = 'failed' AND o.error NOT IN {REPLACED})", before_ms, most
    )


def _forget_outbox(tx: Tx, settled: str, before_ms: int, most: int) -> int:
    # A card whose request waits is still to be changed, so is a message that an open row edits; and an open
    # turn's parts say what of it was shown.
    return tx.run(
        "DELETE FROM outbox WHERE id IN (SELECT o.id FROM outbox o"
        f" WHERE o.state IN ('sent', 'failed', 'unknown') AND {settled} AND o.settled_at < :before"
        " AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = o.request_id AND r.state = 'pending')"
        f" AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = o.turn_id AND t.state IN {OPEN_STATES})"
        " AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.edits = o.id AND e.state IN ('queued', 'sending'))"
        " ORDER BY o.settled_at LIMIT :most)",
        before=before_ms,
        most=most,
    )


def forget_buttons(tx: Tx, before_ms: int, most: int) -> int:
    """Buttons of requests that were settled before then; a press on one is told that it is not known any more."""
    return tx.run(
        "DELETE FROM buttons WHERE token IN (SELECT b.token FROM buttons b JOIN requests r ON r.id = b.request_id"
        " WHERE r.state != 'pending' AND COALESCE(r.decided_at, r.created_at) < :before LIMIT :most)",
        before=before_ms,
        most=most,
    )


def forget_told(tx: Tx, before_ms: int, most: int) -> int:
    """Strangers who were told before then that the bot is private, unused codes of then, and who was told of a pause.

    They are told once more if they write again. Who was let in, or refused, is not forgotten.
    """
    strangers = tx.run(
        "DELETE FROM pairings WHERE (platform, account, user_id) IN"
        " (SELECT platform, account, user_id FROM pairings WHERE state IN ('stranger', 'asked')"
        " AND told_at < :before AND COALESCE(expires_at, 0) < :before LIMIT :most)",
        before=before_ms,
        most=most,
    )
    told = tx.run(
        "DELETE FROM told WHERE (topic, subject) IN (SELECT topic, subject FROM told WHERE at < :before LIMIT :most)",
        before=before_ms,
        most=most,
    )
    return strangers + told


def forget_usage(tx: Tx, before_ms: int, most: int) -> int:
    """What was used before then: by day, for the limits, and by turn and model."""
    days = tx.run(
        "DELETE FROM usage WHERE (day, subject) IN (SELECT day, subject FROM usage WHERE day < :day LIMIT :most)",
        day=from_ms(before_ms).date().isoformat(),
        most=most,
    )
    by_turn = tx.run(
        "DELETE FROM turn_usage WHERE (turn_id, model) IN"
        " (SELECT turn_id, model FROM turn_usage WHERE at < :before LIMIT :most)",
        before=before_ms,
        most=most,
    )
    return days + by_turn


def open_turn_ids(tx: Tx) -> frozenset[int]:
    """All turns that have not ended."""
    return frozenset(row["id"] for row in tx.rows(f"SELECT id FROM turns WHERE state IN {OPEN_STATES}"))
