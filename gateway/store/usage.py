"""What was used: counted by day (UTC) for the limits, and kept for each turn and model for people to read.

A `subject` is a person (platform:user), or `chat:platform:chat id` for a chat with limits of its own. Money is in
millionths of a US dollar.
"""

from dataclasses import dataclass

from gateway.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Messages taken, tokens and money spent; `unpriced` is how many answers had no known price."""

    messages: int = 0
    tokens: int = 0
    usd_micros: int = 0
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one model did for a turn, or for several; `usd_micros` None: the price of some of it is not known."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd_micros: int | None


def add(tx: Tx, *, day: str, subject: str, used: Used) -> None:
    """Count what a subject used on a day (YYYY-MM-DD)."""
    tx.run(
        "INSERT INTO usage (day, subject, messages, tokens, usd_micros, unpriced)"
        " VALUES (:day, :subject, :messages, :tokens, :usd, :unpriced)"
        " ON CONFLICT (day, subject) DO UPDATE SET messages = usage.messages + :messages,"
        " tokens = usage.tokens + :tokens, usd_micros = usage.usd_micros + :usd,"
        " unpriced = usage.unpriced + :unpriced",
        day=day,
        subject=subject,
        messages=used.messages,
        tokens=used.tokens,
        usd=used.usd_micros,
        unpriced=used.unpriced,
    )


def of(tx: Tx, *, day: str, subject: str) -> Used:
    """What a subject used on a day."""
    row = tx.row(
        "SELECT messages, tokens, usd_micros, unpriced FROM usage WHERE day = :day AND subject = :subject",
        day=day,
        subject=subject,
    )
    if row is None:
        return Used()
    return Used(
        messages=row["messages"],
        tokens=row["tokens"],
        usd_micros=row["usd_micros"],
        unpriced=row["unpriced"],
    )


def spend(tx: Tx, *, turn_id: int, spent: Spent, now_ms: int) -> None:
    """Keep what one model did for a turn; called again, it adds up."""
    tx.run(
        "INSERT INTO turn_usage (turn_id, model, requests, input_tokens, output_tokens, cached_tokens, usd_micros, at)"
        " VALUES (:turn, :model, :requests, :input, :output, :cached, :usd, :now)"
        " ON CONFLICT (turn_id, model) DO UPDATE SET requests = turn_usage.requests + :requests,"
        " input_tokens = turn_usage.input_tokens + :input, output_tokens = turn_usage.output_tokens + :output,"
        " cached_tokens = turn_usage.cached_tokens + :cached, usd_micros = turn_usage.usd_micros + :usd",
        turn=turn_id,
        model=spent.model,
        requests=spent.requests,
        input=spent.input_tokens,
        output=spent.output_tokens,
        cached=spent.cached_tokens,
        usd=spent.usd_micros,
        now=now_ms,
    )


def last_turn(tx: Tx, lane_id: int) -> list[Spent]:
    """What the lane's last turn used that asked a model at all, model by model."""
    return _spent(
        tx,
        "WHERE u.turn_id = (SELECT MAX(t.id) FROM turns t JOIN turn_usage x ON x.turn_id = t.id"
        " WHERE t.lane_id = :lane)",
        lane=lane_id,
    )


def since(tx: Tx, from_ms: int) -> list[Spent]:
    """What all turns used that ended since then, model by model."""
    return _spent(tx, "WHERE u.at >= :from_ms", from_ms=from_ms)


def _spent(tx: Tx, where: str, **params: object) -> list[Spent]:
    rows = tx.rows(
        "SELECT u.model, SUM(u.requests) AS requests, SUM(u.input_tokens) AS input_tokens,"
        " SUM(u.output_tokens) AS output_tokens, SUM(u.cached_tokens) AS cached_tokens,"
        " CASE WHEN COUNT(*) = COUNT(u.usd_micros) THEN SUM(u.usd_micros) END AS usd"
        f" FROM turn_usage u {where} GROUP BY u.model ORDER BY u.model",
        **params,
    )
    return [
        Spent(
            model=row["model"],
            requests=int(row["requests"]),
            input_tokens=int(row["input_tokens"]),
            output_tokens=int(row["output_tokens"]),
            cached_tokens=int(row["cached_tokens"]),
            usd_micros=None if row["usd"] is None else int(row["usd"]),
        )
        for row in rows
    ]
