"""The audit log's chain: what each row's hash binds, and how a log is checked. Pure; rows come from the store.

A row's `hash` covers its number, time, action, the hash of its body (who, about what, details) and the hash of the
row before. So a row that was changed, removed, inserted or moved breaks the chain at that place. The newest number
and hash are kept a second time (`Head`), so that a cut tail is missed.

Limits, stated: whoever can write the database can rewrite the whole chain together with its head. A signing key
(kept outside the database) prevents that, except for going back to an older whole copy; against this only a head
that was noted elsewhere helps (`verify(..., noted=...)`).

To erase a person, a row's body and salt are blanked; its body's hash stays, so the chain still holds. Such rows
must be named by a later row of action `person.erased`, else they count as changed.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

ERASED = "[erased]"
ERASURE = "person.erased"
FIRST = ""
"""What the first row follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """A row as stored; `detail` is JSON text, `at` UTC milliseconds. `salt` is None once the body was erased."""

    seq: int
    at: int
    actor: str
    action: str
    target: str
    detail: str
    salt: str | None
    body_hash: str
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest row's number and hash; 0 and "" for an empty log."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something is wrong at row `seq` (or right before it)."""

    seq: int
    what: str


def body_hash(*, salt: str, actor: str, target: str, detail: str) -> str:
    """SHA-256 of what names people; salted, so that an erased body cannot be guessed."""
    return hashlib.sha256(json.dumps([salt, actor, target, detail]).encode()).hexdigest()


def link_hash(*, seq: int, at: int, action: str, body: str, prev: str, key: str | None) -> str:
    """The row's hash: `sha256:…`, or with a key `hmac-KEYID:…`."""
    text = json.dumps([seq, at, action, body, prev]).encode()
    if key is None:
        return f"sha256:{hashlib.sha256(text).hexdigest()}"
    return f"{_signature(key)}:{hmac.new(key.encode(), text, hashlib.sha256).hexdigest()}"


def is_signed(link: str) -> bool:
    """Whether a row's hash was made with a key."""
    return link.startswith("hmac-")


def verify(
    rows: Iterable[AuditRow], head: Head, *, key: str | None = None, noted: Head | None = None
) -> list[Fault]:
    """Everything that is wrong with a log, in order; empty: nothing was changed, removed, moved or added.

    Args:
        rows: All rows, by number.
        head: The head as kept beside the log.
        key: The signing key, if the log is signed.
        noted: A head that was noted elsewhere before; the log must still contain it.
    """
    check = _Check(key=key)
    for row in rows:
        check.take(row, noted)
    return check.finish(head, noted)


@dataclass(slots=True, kw_only=True)
class _Check:
    key: str | None
    faults: list[Fault] = field(default_factory=list)
    last: Head = Head(seq=0, hash=FIRST)
    signed: bool = False
    blanked: list[int] = field(default_factory=list)
    erased: set[int] = field(default_factory=set)

    def take(self, row: AuditRow, noted: Head | None) -> None:
        if row.seq != self.last.seq + 1:
            self._fault(row.seq, f"rows {self.last.seq + 1} to {row.seq - 1} are missing")
        elif row.prev_hash != self.last.hash:
            self._fault(row.seq, "does not follow the row before it")
        self._check_link(row)
        self._check_body(row)
        if noted is not None and row.seq == noted.seq and row.hash != noted.hash:
            self._fault(row.seq, "is not the row whose hash was noted")
        self.signed = self.signed or is_signed(row.hash)
        self.last = Head(seq=row.seq, hash=row.hash)

    def _check_link(self, row: AuditRow) -> None:
        if is_signed(row.hash):
            if self.key is None:
                self._fault(row.seq, "is signed, and no key was given to check it")
                return
            if not row.hash.startswith(f"{_signature(self.key)}:"):
                self._fault(row.seq, "is signed with another key")
                return
        elif self.signed:
            self._fault(row.seq, "is not signed, though rows before it are")
        expected = link_hash(
            seq=row.seq,
            at=row.at,
            action=row.action,
            body=row.body_hash,
            prev=row.prev_hash,
            key=self.key if is_signed(row.hash) else None,
        )
        if not hmac.compare_digest(expected, row.hash):
            self._fault(row.seq, "was changed")

    def _check_body(self, row: AuditRow) -> None:
        if row.salt is None:
            self.blanked.append(row.seq)
            if (row.actor, row.target, row.detail) != (ERASED, ERASED, "{}"):
                self._fault(row.seq, "says something, though its content was removed")
            return
        body = body_hash(salt=row.salt, actor=row.actor, target=row.target, detail=row.detail)
        if not hmac.compare_digest(body, row.body_hash):
            self._fault(row.seq, "its content was changed")
        elif row.action == ERASURE:
            self.erased.update(_erased_rows(row.detail))

    def finish(self, head: Head, noted: Head | None) -> list[Fault]:
        for seq in self.blanked:
            if seq not in self.erased:
                self._fault(seq, "its content was removed, and no erasure names it")
        if self.last != head:
            what = (
                "the newest rows are missing" if self.last.seq < head.seq else "is not the row last written"
            )
            self._fault(self.last.seq + int(self.last.seq < head.seq), what)
        if noted is not None and self.last.seq < noted.seq:
            self._fault(self.last.seq + 1, f"rows up to {noted.seq} were there when the head was noted")
        if self.key is not None and self.last.seq and not self.signed:
            self._fault(self.last.seq, "the log is not signed, though there is a key")
        return sorted(self.faults, key=lambda fault: fault.seq)

    def _fault(self, seq: int, what: str) -> None:
        self.faults.append(Fault(seq=seq, what=what))


def _erased_rows(detail: str) -> Iterable[int]:
    rows = json.loads(detail).get("rows", [])
    return [seq for seq in rows if isinstance(seq, int)]


def _signature(key: str) -> str:
    # A few bits of the key's hash tell one key from another without helping to find either.
    return f"hmac-{hashlib.sha256(b'parley audit ' + key.encode()).hexdigest()[:8]}"
