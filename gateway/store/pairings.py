"""People who wrote without being allowed to: strangers, those who hold a pairing code, those let in by one.

One row a person and account. States: `stranger` (told that the bot is private), `asked` (holds a code until
`expires_at`), `paired`, `denied` (asked, and an admin said no). The row of nobody counts wrong codes.
"""

from dataclasses import dataclass
from typing import Literal

from gateway.messages import Target
from gateway.store.tx import Row, Tx

PairingState = Literal["stranger", "asked", "paired", "denied"]

# The row that counts tries belongs to no platform; its `told_at` is when the first of them was.
_LOCK = "platform = '' AND account = '' AND user_id = ''"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """A person as one account knows them; of a code only the hash is kept. `chat_id` is where they asked."""

    platform: str
    account: str
    user_id: str
    state: PairingState
    expires_at: int | None
    decided_by: str | None
    chat_id: str | None
    thread_id: str | None

    @property
    def person(self) -> str:
        """`platform:user`."""
        return f"{self.platform}:{self.user_id}"


def get(tx: Tx, *, platform: str, account: str, user_id: str) -> Pairing | None:
    """What is known of a person."""
    row = tx.row(
        "SELECT * FROM pairings WHERE platform = :platform AND account = :account AND user_id = :user",
        platform=platform,
        account=account,
        user=user_id,
    )
    return _pairing(row) if row else None


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


def open_codes(tx: Tx, *, platform: str, account: str, now_ms: int) -> int:
    """How many codes of an account are open."""
    row = tx.row(
        "SELECT COUNT(*) AS n FROM pairings WHERE platform = :platform AND account = :account"
        " AND state = 'asked' AND expires_at > :now",
        platform=platform,
        account=account,
        now=now_ms,
    )
    assert row is not None
    return int(row["n"])


def hold_code(tx: Tx, target: Target, *, user_id: str, code_hash: str, now_ms: int, expires_at: int) -> None:
    """The person who wrote from `target` holds this code from now on; an older one of theirs is void."""
    tx.run(
        "INSERT INTO pairings (platform, account, user_id, state, code_hash, told_at, expires_at, chat_id,"
        " thread_id) VALUES (:platform, :account, :user, 'asked', :hash, :now, :expires, :chat, :thread)"
        " ON CONFLICT (platform, account, user_id) DO UPDATE SET state = 'asked', code_hash = :hash,"
        " told_at = :now, expires_at = :expires, decided_by = NULL, chat_id = :chat, thread_id = :thread",
        platform=target.platform,
        account=target.account,
        chat=target.chat_id,
        thread=target.thread_id,
        user=user_id,
        hash=code_hash,
        now=now_ms,
        expires=expires_at,
    )


def by_code(tx: Tx, code_hash: str, now_ms: int) -> Pairing | None:
    """Who holds a code that is still good."""
    row = tx.row(
        "SELECT * FROM pairings WHERE code_hash = :hash AND state = 'asked' AND expires_at > :now",
        hash=code_hash,
        now=now_ms,
    )
    return _pairing(row) if row else None


def decide(tx: Tx, pairing: Pairing, state: PairingState, by: str) -> None:
    """Let a person in, or not; their code is used up."""
    tx.run(
        "UPDATE pairings SET state = :state, code_hash = NULL, expires_at = NULL, decided_by = :by"
        " WHERE platform = :platform AND account = :account AND user_id = :user",
        state=state,
        by=by,
        platform=pairing.platform,
        account=pairing.account,
        user=pairing.user_id,
    )


def of_person(tx: Tx, platform: str, user_id: str) -> list[Pairing]:
    """A person with all accounts of a platform."""
    rows = tx.rows(
        "SELECT * FROM pairings WHERE platform = :platform AND user_id = :user ORDER BY account",
        platform=platform,
        user=user_id,
    )
    return [_pairing(row) for row in rows]


def listed(tx: Tx, now_ms: int) -> list[Pairing]:
    """Who is let in, and who holds a code that is still good."""
    rows = tx.rows(
        "SELECT * FROM pairings WHERE state = 'paired' OR state = 'asked' AND expires_at > :now"
        " ORDER BY platform, account, user_id",
        now=now_ms,
    )
    return [_pairing(row) for row in rows]


def forget(tx: Tx, platform: str, user_id: str) -> int:
    """Know nothing of a person any more; returns with how many accounts they were known."""
    return tx.run(
        "DELETE FROM pairings WHERE platform = :platform AND user_id = :user", platform=platform, user=user_id
    )


def locked_until(tx: Tx) -> int:
    """Until when no code is taken, because of too many wrong ones; 0: codes are taken."""
    row = tx.row(f"SELECT expires_at FROM pairings WHERE {_LOCK}")
    return int(row["expires_at"] or 0) if row else 0


def wrong_try(tx: Tx, *, now_ms: int, most: int, within_ms: int) -> None:
    """Count a wrong code; the `most`-th `within_ms` locks for as long."""
    row = tx.row(f"SELECT tries, told_at FROM pairings WHERE {_LOCK}")
    is_recent = row is not None and now_ms - row["told_at"] < within_ms
    tries = (row["tries"] if row is not None and is_recent else 0) + 1
    tx.run(
        "INSERT INTO pairings (platform, account, user_id, state, tries, told_at, expires_at)"
        " VALUES ('', '', '', 'stranger', :tries, :since, :until)"
        " ON CONFLICT (platform, account, user_id) DO UPDATE SET tries = :tries, told_at = :since,"
        " expires_at = :until",
        tries=0 if tries >= most else tries,
        since=row["told_at"] if row is not None and is_recent else now_ms,
        until=now_ms + within_ms if tries >= most else None,
    )


def _pairing(row: Row) -> Pairing:
    return Pairing(
        platform=row["platform"],
        account=row["account"],
        user_id=row["user_id"],
        state=row["state"],
        expires_at=row["expires_at"],
        decided_by=row["decided_by"],
        chat_id=row["chat_id"],
        thread_id=row["thread_id"],
    )
