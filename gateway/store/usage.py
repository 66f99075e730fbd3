"""What each person used, a row a day (UTC) and place; `place` is "" except for chats with limits of their own."""

from dataclasses import dataclass

from gateway.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Messages taken and tokens spent."""

    messages: int = 0
    tokens: int = 0


def add(tx: Tx, *, day: str, subject: str, place: str, messages: int = 0, tokens: int = 0) -> None:
    """Count what a person (platform:user) used on a day (YYYY-MM-DD)."""
    tx.run(
        "INSERT INTO usage (day, subject, place, messages, tokens) VALUES (:day, :subject, :place, :messages, :tokens)"
        " ON CONFLICT (day, subject, place) DO UPDATE SET messages = usage.messages + :messages,"
        " tokens = usage.tokens + :tokens",
        day=day,
        subject=subject,
        place=place,
        messages=messages,
        tokens=tokens,
    )


def of(tx: Tx, *, day: str, subject: str, place: str) -> Used:
    """What a person used on a day in a place."""
    row = tx.row(
        "SELECT messages, tokens FROM usage WHERE day = :day AND subject = :subject AND place = :place",
        day=day,
        subject=subject,
        place=place,
    )
    return Used(messages=row["messages"], tokens=row["tokens"]) if row else Used()
