"""What people said and read, for people to read again: apart from the agent's own state, complete by itself."""

from dataclasses import dataclass
from typing import Literal

from gateway.store.tx import Tx

Role = Literal["question", "answer", "tool", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One line of a transcript; an answer names its question."""

    id: int
    turn_id: int
    role: Role
    author: str
    body: str
    question_id: int | None


def add(
    tx: Tx,
    *,
    session_id: int,
    turn_id: int,
    role: Role,
    author: str,
    body: str,
    now_ms: int,
) -> int:
    """Append one line to the transcript; all but questions refer to the turn's question."""
    row = tx.row(
        "INSERT INTO messages (session_id, turn_id, role, author, body, question_id, at)"
        " VALUES (:session, :turn, :role, :author, :body,"
        " CASE WHEN :role = 'question' THEN NULL ELSE"
        " (SELECT MIN(id) FROM messages WHERE turn_id = :turn AND role = 'question') END, :now) RETURNING id",
        session=session_id,
        turn=turn_id,
        role=role,
        author=author,
        body=body,
        now=now_ms,
    )
    assert row is not None
    return int(row["id"])


def reword(tx: Tx, line_id: int, body: str) -> None:
    """A person changed what they said before anybody read it."""
    tx.run("UPDATE messages SET body = :body WHERE id = :id", body=body, id=line_id)


def take_back(tx: Tx, line_id: int) -> None:
    """A person deleted what they said before anybody read it."""
    tx.run("DELETE FROM messages WHERE id = :id", id=line_id)


def transcript(tx: Tx, session_id: int) -> list[Message]:
    """All lines of a session, in order."""
    rows = tx.rows(
        "SELECT id, turn_id, role, author, body, question_id FROM messages WHERE session_id = :session ORDER BY id",
        session=session_id,
    )
    return [
        Message(
            id=row["id"],
            turn_id=row["turn_id"],
            role=row["role"],
            author=row["author"],
            body=row["body"],
            question_id=row["question_id"],
        )
        for row in rows
    ]
