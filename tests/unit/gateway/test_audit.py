"""The audit chain: whatever is done to a stored log, the check names it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import audit
from gateway.audit import AuditRow, Fault, Head, verify
from gateway.store import audit as store
from gateway.store import schema
from gateway.store.audit import AuditLog
from gateway.store.sqlite import SqliteStore, open_database

pytestmark = pytest.mark.req("APR-8")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def a_log(length: int, key: str | None = None, *, unsigned: int = 0) -> tuple[list[AuditRow], Head]:
    """A log of `length` rows; the first `unsigned` of them were written before there was a key."""
    rows: list[AuditRow] = []
    prev = audit.FIRST
    for seq in range(1, length + 1):
        body = audit.body_hash(salt=f"s{seq}", actor="m:1", target=f"t:{seq}", detail="{}")
        link = audit.link_hash(
            seq=seq, at=seq, action="a", body=body, prev=prev, key=key if seq > unsigned else None
        )
        rows.append(
            AuditRow(
                seq=seq,
                at=seq,
                actor="m:1",
                action="a",
                target=f"t:{seq}",
                detail="{}",
                salt=f"s{seq}",
                body_hash=body,
                prev_hash=prev,
                hash=link,
            )
        )
        prev = link
    return rows, Head(seq=length, hash=prev)


@given(length=st.integers(0, 8), key=st.sampled_from([None, "k"]), data=st.data())
def test_an_untouched_log_has_no_fault(length: int, key: str | None, data: st.DataObject) -> None:
    unsigned = data.draw(st.integers(0, max(0, length - 1)))
    rows, head = a_log(length, key, unsigned=unsigned)

    assert verify(rows, head, key=key) == []


@given(length=st.integers(1, 8), key=st.sampled_from([None, "k"]), data=st.data())
def test_a_row_that_was_changed_in_any_field_is_found(
    length: int, key: str | None, data: st.DataObject
) -> None:
    rows, head = a_log(length, key)
    place = data.draw(st.integers(0, length - 1))
    field = data.draw(st.sampled_from([f for f in AuditRow.__dataclass_fields__ if f != "seq"]))
    value = getattr(rows[place], field)
    rows[place] = replace(rows[place], **{field: value + 1 if isinstance(value, int) else f"{value}x"})

    assert verify(rows, head, key=key) != []


@given(length=st.integers(1, 8), key=st.sampled_from([None, "k"]), data=st.data())
def test_removed_rows_are_found_wherever_they_stood(
    length: int, key: str | None, data: st.DataObject
) -> None:
    rows, head = a_log(length, key)
    first = data.draw(st.integers(0, length - 1))
    last = data.draw(st.integers(first, length - 1))
    del rows[first : last + 1]

    assert verify(rows, head, key=key) != []


@given(length=st.integers(2, 8), data=st.data())
def test_rows_that_changed_places_are_found(length: int, data: st.DataObject) -> None:
    rows, head = a_log(length)
    one = data.draw(st.integers(0, length - 2))
    other = data.draw(st.integers(one + 1, length - 1))
    rows[one], rows[other] = replace(rows[other], seq=one + 1), replace(rows[one], seq=other + 1)

    assert verify(rows, head) != []


def test_a_row_that_was_put_in_with_all_after_it_rewritten_is_found_by_the_key_only() -> None:
    forged, _ = a_log(4)
    _, head = a_log(3, "k")

    assert verify(forged, Head(seq=4, hash=forged[-1].hash)) == []
    assert verify(forged, Head(seq=4, hash=forged[-1].hash), key="k") == [
        Fault(seq=4, what="the log is not signed, though there is a key")
    ]
    assert verify(forged, head, key="k") != []


def test_another_key_and_no_key_are_told_from_a_change() -> None:
    rows, head = a_log(1, "k")

    assert verify(rows, head, key="other") == [Fault(seq=1, what="is signed with another key")]
    assert verify(rows, head) == [Fault(seq=1, what="is signed, and no key was given to check it")]


def test_unsigned_rows_after_signed_ones_are_a_fault() -> None:
    rows, _ = a_log(1, "k")
    body = rows[0].body_hash
    link = audit.link_hash(seq=2, at=2, action="a", body=body, prev=rows[0].hash, key=None)
    rows.append(replace(rows[0], seq=2, at=2, prev_hash=rows[0].hash, hash=link))

    assert verify(rows, Head(seq=2, hash=link), key="k") == [
        Fault(seq=2, what="is not signed, though rows before it are")
    ]


def test_an_older_copy_of_the_whole_log_is_found_with_a_head_noted_elsewhere() -> None:
    rows, noted = a_log(5)
    older = rows[:3]
    head = Head(seq=3, hash=older[-1].hash)

    assert verify(older, head) == []
    assert verify(older, head, noted=noted) == [
        Fault(seq=4, what="rows up to 5 were there when the head was noted")
    ]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_database(tmp_path / "parley.db")
    await opened.write(lambda tx: schema.migrate(tx, 0))
    yield opened
    await opened.close()


async def faults(database: SqliteStore, key: str | None = None) -> list[Fault]:
    return await database.read(lambda tx: verify(store.rows(tx), store.head_of(tx), key=key))


async def test_what_is_rolled_back_leaves_no_row_and_no_gap(database: SqliteStore) -> None:
    log = AuditLog(clock=lambda: NOW)

    def fails(tx: store.Tx) -> None:
        log.write(tx, actor="m:1", action="a", target="t")
        raise LookupError

    await database.write(lambda tx: log.write(tx, actor="m:1", action="a", target="t"))
    with pytest.raises(LookupError):
        await database.write(fails)
    number = await database.write(lambda tx: log.write(tx, actor="m:1", action="b", target="t"))

    assert number == 2
    assert await faults(database) == []


async def test_the_stored_chain_holds_over_pages_and_misses_a_cut_tail(
    database: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PAGE", 3)
    log = AuditLog(key="k", clock=lambda: NOW)

    def fill(tx: store.Tx) -> None:
        for number in range(7):
            log.write(tx, actor="m:1", action="a", target=f"t:{number}", n=number)

    await database.write(fill)
    assert await faults(database, "k") == []
    await database.write(lambda tx: tx.run("DELETE FROM audit WHERE seq > 5"))
    assert await faults(database, "k") == [Fault(seq=6, what="the newest rows are missing")]


async def test_details_are_masked_and_a_line_holds_the_whole_row(database: SqliteStore) -> None:
    log = AuditLog(mask=lambda detail: dict.fromkeys(detail, "***"), new_salt=lambda: "s", clock=lambda: NOW)
    await database.write(lambda tx: log.write(tx, actor="m:1", action="a", target="t", password="x"))

    (row,) = await database.read(lambda tx: list(store.rows(tx)))
    assert row.detail == '{"password": "***"}'
    assert store.to_line(row) == (
        '{"seq": 1, "at": 1767312000000, "actor": "m:1", "action": "a", "target": "t", "detail": {"password": "***"},'
        f' "salt": "s", "body_hash": "{row.body_hash}", "prev_hash": "", "hash": "{row.hash}"}}'
    )


@pytest.mark.req("SES-5")
async def test_a_blanked_row_holds_only_if_an_erasure_names_it(database: SqliteStore) -> None:
    log = AuditLog(clock=lambda: NOW)
    await database.write(lambda tx: log.write(tx, actor="m:1", action="a", target="t"))
    await database.write(lambda tx: log.write(tx, actor="m:2", action="a", target="t", about="m:1"))
    seqs = [row.seq for row in await database.read(lambda tx: store.naming(tx, "m:1"))]
    assert seqs == [1, 2]

    await database.write(lambda tx: store.blank(tx, seqs))
    assert [fault.seq for fault in await faults(database)] == [1, 2]
    await database.write(
        lambda tx: log.write(tx, actor="operator", action="person.erased", target="x", rows=seqs)
    )
    assert await faults(database) == []
    assert await database.read(lambda tx: store.naming(tx, "m:1")) == []

    await database.write(lambda tx: tx.run('UPDATE audit SET detail = \'{"tool": "drop"}\' WHERE seq = 2'))
    assert [fault.seq for fault in await faults(database)] == [2]


async def test_a_key_set_later_signs_from_then_on(database: SqliteStore) -> None:
    await database.write(
        lambda tx: AuditLog(clock=lambda: NOW).write(tx, actor="m:1", action="a", target="t")
    )
    signing = AuditLog(key="k", clock=lambda: NOW)
    await database.write(signing.begin_signing)
    await database.write(signing.begin_signing)

    assert [row.action for row in await database.read(lambda tx: list(store.rows(tx)))] == [
        "a",
        "audit.signing_began",
    ]
    assert await faults(database, "k") == []
