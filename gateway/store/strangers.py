"""People who wrote without being allowed to: who was told so, once. Pairing grows in the same table."""

from gateway.store.tx import Tx


def tell_once(tx: Tx, *, platform: str, account: str, user_id: str, now_ms: int) -> bool:
    """True the first time this person is met: they are to be told that the bot is private."""
    return (
        tx.run(
            "INSERT INTO pairings (platform, account, user_id, state, told_at)"
            " VALUES (:platform, :account, :user, 'stranger', :now) ON CONFLICT DO NOTHING",
            platform=platform,
            account=account,
            user=user_id,
            now=now_ms,
        )
        == 1
    )
