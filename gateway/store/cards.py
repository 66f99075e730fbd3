"""Which messages show a request, and where: rows of the outbox, looked at from the request's side."""

from gateway.messages import Target
from gateway.store.outbox import dest_of, target_of
from gateway.store.tx import Tx


def of_request(tx: Tx, request_id: int) -> list[tuple[int, Target]]:
    """The outbox rows whose messages show this request's buttons, each with its place."""
    rows = tx.rows(
        "SELECT id, dest FROM outbox WHERE request_id = :request AND kind = 'card' ORDER BY id",
        request=request_id,
    )
    return [(row["id"], target_of(row["dest"])) for row in rows]


def showing(tx: Tx, request_id: int, token: str) -> int | None:
    """The row of the card that shows (or showed) the button with this token."""
    row = tx.row(
        "SELECT COALESCE(edits, id) AS id FROM outbox WHERE request_id = :request AND payload LIKE :holds"
        " ORDER BY id DESC LIMIT 1",
        request=request_id,
        holds=f"%{token}%",
    )
    return int(row["id"]) if row else None


def request_on(tx: Tx, target: Target, message_id: str) -> int | None:
    """The id of the request that a shown message is the card of."""
    row = tx.row(
        "SELECT request_id FROM outbox WHERE dest = :dest AND platform_msg_id = :message AND kind = 'card'"
        " AND request_id IS NOT NULL",
        dest=dest_of(target),
        message=message_id,
    )
    return int(row["request_id"]) if row else None
