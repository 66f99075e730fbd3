"""What came in, once: the dedupe key of every update and what became of it."""

from gateway.store.tx import Tx


def remember(
    tx: Tx,
    *,
    platform: str,
    account: str,
    key: str,
    became: str,
    now_ms: int,
    turn_id: int | None = None,
    place: str | None = None,
    message_id: str | None = None,
) -> bool:
    """Store an update's key; False if it was stored before, so that nothing more may be done with it.

    `place` (thread, else chat) and `message_id` say how far a chat has been read, see `last_seen`.
    """
    return (
        tx.run(
            "INSERT INTO inbox (platform, account, update_key, received_at, became, turn_id, place,"
            " message_id) VALUES (:platform, :account, :key, :now, :became, :turn, :place, :message)"
            " ON CONFLICT DO NOTHING",
            platform=platform,
            account=account,
            key=key,
            now=now_ms,
            became=became,
            turn=turn_id,
            place=place,
            message=message_id,
        )
        == 1
    )


def last_seen(tx: Tx, platform: str, account: str) -> dict[str, str]:
    """The newest stored message of each place of an account, by arrival; a look through the whole inbox."""
    rows = tx.rows(
        "SELECT place, message_id FROM inbox WHERE platform = :platform AND account = :account"
        " AND message_id IS NOT NULL ORDER BY received_at",
        platform=platform,
        account=account,
    )
    return {row["place"]: row["message_id"] for row in rows}


def settle(tx: Tx, *, platform: str, account: str, key: str, became: str, turn_id: int | None = None) -> None:
    """Say what became of an update that was remembered in this transaction."""
    tx.run(
        "UPDATE inbox SET became = :became, turn_id = :turn"
        " WHERE platform = :platform AND account = :account AND update_key = :key",
        became=became,
        turn=turn_id,
        platform=platform,
        account=account,
        key=key,
    )
