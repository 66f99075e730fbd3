"""Where to tell that a restart is done: asked for in one process, told once by the next."""

from gateway.store.tx import Tx


def ask(tx: Tx, dest: str, now_ms: int) -> None:
    """Somebody there asked for a restart."""
    tx.run(
        "INSERT INTO restarts (dest, asked_at) VALUES (:dest, :now)"
        " ON CONFLICT (dest) DO UPDATE SET asked_at = :now",
        dest=dest,
        now=now_ms,
    )


def take(tx: Tx) -> list[str]:
    """All destinations that are to be told; they are forgotten with this transaction."""
    dests = [row["dest"] for row in tx.rows("SELECT dest FROM restarts ORDER BY asked_at, dest")]
    if dests:
        tx.run("DELETE FROM restarts")
    return dests
