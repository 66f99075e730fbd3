"""What came in, once: the dedupe key of every update and what became of it."""

from gateway.store.tx import Tx


def remember(
    tx: Tx, *, platform: str, account: str, key: str, became: str, now_ms: int, turn_id: int | None = None
) -> bool:
    """Store an update's key; False if it was stored before, so that nothing more may be done with it."""
    return (
        tx.run(
            "INSERT INTO inbox (platform, account, update_key, received_at, became, turn_id)"
            " VALUES (:platform, :account, :key, :now, :became, :turn) ON CONFLICT DO NOTHING",
            platform=platform,
            account=account,
            key=key,
            now=now_ms,
            became=became,
            turn=turn_id,
        )
        == 1
    )


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
