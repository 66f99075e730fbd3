"""The audit log's rows: appended in the transaction of what they tell of, never changed.

`AuditLog` is handed to everybody who decides something. The one exception to "never changed" is `blank`, for a
person who is erased; see `gateway.audit`.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gateway.audit import ERASED, AuditRow, Head, body_hash, is_signed, link_hash
from gateway.clock import Clock, to_ms, utc_now
from gateway.store.tx import Row, Tx

PAGE = 1_000
OPERATOR = "operator"
"""The actor of what is done on the machine itself (command line, timers are `parley`)."""
SYSTEM = "parley"


class AuditLog:
    """Appends rows, signed if there is a key; secrets in details are masked."""

    def __init__(
        self,
        *,
        key: str | None = None,
        mask: Callable[[Any], Any] = lambda value: value,
        new_salt: Callable[[], str] = lambda: secrets.token_hex(16),
        clock: Clock = utc_now,
    ) -> None:
        self._key = key
        self._mask = mask
        self._new_salt = new_salt
        self._clock = clock

    def write(self, tx: Tx, *, actor: str, action: str, target: str, **detail: object) -> int:
        """Append a row; returns its number. `actor` and `target` are ids (`platform:user`, `request:7`)."""
        # One statement both draws the number and holds the head until the transaction ends.
        head = tx.row("UPDATE audit_head SET seq = seq + 1 WHERE one = 1 RETURNING seq, hash")
        assert head is not None
        salt, now_ms = self._new_salt(), to_ms(self._clock())
        text = json.dumps(self._mask(detail), ensure_ascii=False, sort_keys=True)
        body = body_hash(salt=salt, actor=actor, target=target, detail=text)
        link = link_hash(
            seq=head["seq"], at=now_ms, action=action, body=body, prev=head["hash"], key=self._key
        )
        tx.run(
            "INSERT INTO audit (seq, at, actor, action, target, detail, salt, body_hash, prev_hash, hash)"
            " VALUES (:seq, :at, :actor, :action, :target, :detail, :salt, :body, :prev, :hash)",
            seq=head["seq"],
            at=now_ms,
            actor=actor,
            action=action,
            target=target,
            detail=text,
            salt=salt,
            body=body,
            prev=head["hash"],
            hash=link,
        )
        tx.run("UPDATE audit_head SET hash = :hash WHERE one = 1", hash=link)
        return int(head["seq"])

    def begin_signing(self, tx: Tx) -> None:
        """At the start: if there is a key and the log's end was written without one, say so in a signed row."""
        if self._key is not None and not is_signed(head_of(tx).hash):
            self.write(tx, actor=SYSTEM, action="audit.signing_began", target="audit")


def head_of(tx: Tx) -> Head:
    """The newest row's number and hash, as kept beside the log."""
    row = tx.row("SELECT seq, hash FROM audit_head WHERE one = 1")
    assert row is not None
    return Head(seq=row["seq"], hash=row["hash"])


def rows(tx: Tx, from_seq: int = 1) -> Iterator[AuditRow]:
    """All rows from a number on, read page by page."""
    while True:
        found = page(tx, from_seq)
        yield from found
        if len(found) < PAGE:
            return
        from_seq = found[-1].seq + 1


def page(tx: Tx, from_seq: int) -> list[AuditRow]:
    """At most `PAGE` rows from a number on."""
    found = tx.rows(
        "SELECT * FROM audit WHERE seq >= :from ORDER BY seq LIMIT :page", **{"from": from_seq}, page=PAGE
    )
    return [_row(row) for row in found]


def naming(tx: Tx, person: str) -> list[AuditRow]:
    """The rows that name a person (`platform:user`) as actor, target or in their details."""
    quoted = json.dumps(person, ensure_ascii=False)
    found = tx.rows(
        "SELECT * FROM audit WHERE salt IS NOT NULL AND (actor = :who OR target = :who"
        " OR instr(detail, :quoted) > 0) ORDER BY seq",
        who=person,
        quoted=quoted,
    )
    return [_row(row) for row in found]


def blank(tx: Tx, seqs: Iterable[int]) -> None:
    """Remove who and what from rows, for good; an `AuditLog.write` of an erasure must name them."""
    tx.run_many(
        f"UPDATE audit SET actor = '{ERASED}', target = '{ERASED}', detail = '{{}}', salt = NULL WHERE seq = :seq",
        [{"seq": seq} for seq in seqs],
    )


def to_line(row: AuditRow) -> str:
    """A row as one line of JSON, for the export; times are UTC milliseconds."""
    return json.dumps(
        {
            "seq": row.seq,
            "at": row.at,
            "actor": row.actor,
            "action": row.action,
            "target": row.target,
            "detail": json.loads(row.detail),
            "salt": row.salt,
            "body_hash": row.body_hash,
            "prev_hash": row.prev_hash,
            "hash": row.hash,
        },
        ensure_ascii=False,
    )


def _row(row: Row) -> AuditRow:
    return AuditRow(
        seq=row["seq"],
        at=row["at"],
        actor=row["actor"],
        action=row["action"],
        target=row["target"],
        detail=row["detail"],
        salt=row["salt"],
        body_hash=row["body_hash"],
        prev_hash=row["prev_hash"],
        hash=row["hash"],
    )
