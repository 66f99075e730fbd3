"""Switches that outlive the process, and what somebody was told once while one was on."""

from gateway.store.tx import Tx


def turn_on(tx: Tx, name: str, *, by: str, now_ms: int) -> bool:
    """True if it was off."""
    return (
        tx.run(
            "INSERT INTO switches (name, set_by, set_at) VALUES (:name, :by, :now) ON CONFLICT DO NOTHING",
            name=name,
            by=by,
            now=now_ms,
        )
        == 1
    )


def turn_off(tx: Tx, name: str) -> bool:
    """True if it was on; what was told meanwhile is forgotten."""
    tx.run("DELETE FROM told WHERE topic = :name", name=name)
    return tx.run("DELETE FROM switches WHERE name = :name", name=name) == 1


def is_on(tx: Tx, name: str) -> bool:
    """Whether it is on."""
    return tx.row("SELECT 1 AS x FROM switches WHERE name = :name", name=name) is not None


def tell_once(tx: Tx, topic: str, subject: str, now_ms: int) -> bool:
    """True the first time somebody (or some place) is to be told of it."""
    return (
        tx.run(
            "INSERT INTO told (topic, subject, at) VALUES (:topic, :subject, :now) ON CONFLICT DO NOTHING",
            topic=topic,
            subject=subject,
            now=now_ms,
        )
        == 1
    )
