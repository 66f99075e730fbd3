"""What is due for a review after turns: durable counters, and what a person said since the last one.

`kind` memory counts a person's turns (`subject`: platform:user), skills the tool rounds of an agent in a session
(`subject`: session:agent). A review takes off what it has seen, in the transaction that stores what it found.
"""

from dataclasses import dataclass
from typing import Literal

from gateway.store.tx import Tx

Kind = Literal["memory", "skills"]

LINES_READ = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One review that is due; `n` is what was counted, `agent` who last spoke."""

    kind: Kind
    subject: str
    agent: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person said since the last review, in order; `upto` is where the next one begins."""

    lines: tuple[str, ...]
    upto: int


def count(tx: Tx, kind: Kind, subject: str, agent: str, n: int) -> None:
    """Add to a counter."""
    if n:
        tx.run(
            "INSERT INTO review_counts (kind, subject, agent, n) VALUES (:kind, :subject, :agent, :n)"
            " ON CONFLICT (kind, subject) DO UPDATE SET n = review_counts.n + :n, agent = :agent",
            kind=kind,
            subject=subject,
            agent=agent,
            n=n,
        )


def due(tx: Tx, kind: Kind, every: int, most: int = 20) -> list[Due]:
    """Whose counters have reached `every`."""
    rows = tx.rows(
        "SELECT * FROM review_counts WHERE kind = :kind AND n >= :every ORDER BY n DESC, subject LIMIT :most",
        kind=kind,
        every=every,
        most=most,
    )
    return [Due(kind=kind, subject=row["subject"], agent=row["agent"], n=row["n"]) for row in rows]


def done(tx: Tx, review: Due) -> None:
    """Take off what the review has seen; what was counted meanwhile stays."""
    tx.run(
        "UPDATE review_counts SET n = CASE WHEN n > :n THEN n - :n ELSE 0 END"
        " WHERE kind = :kind AND subject = :subject",
        n=review.n,
        kind=review.kind,
        subject=review.subject,
    )


def said_since(tx: Tx, subject: str) -> Said:
    """A person's own words since the last review, never from before their baseline."""
    rows = tx.rows(
        "SELECT m.id, m.body FROM messages m JOIN memory_baselines b ON b.subject = m.author"
        " WHERE m.author = :subject AND m.role = 'question' AND m.at >= b.extract_from AND m.id > b.read_to"
        " ORDER BY m.id LIMIT :most",
        subject=subject,
        most=LINES_READ,
    )
    return Said(lines=tuple(row["body"] for row in rows), upto=rows[-1]["id"] if rows else 0)


def read_to(tx: Tx, subject: str, upto: int) -> None:
    """A person's words up to this one were looked through."""
    tx.run(
        "UPDATE memory_baselines SET read_to = :upto WHERE subject = :subject AND read_to < :upto",
        upto=upto,
        subject=subject,
    )
