"""What the operator asks and does: grants, the audit log, and a person's own data handed out or removed."""

import json

import pytest

from gateway.audit import Fault
from gateway.requests.grants import Condition, Pattern
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.test_grants import actions, choose


async def everything(house: House) -> str:
    """All the database holds, as one text."""
    tables = await house.values("SELECT name FROM sqlite_master WHERE type = 'table'")
    lines = []
    for table in tables:
        rows = await house.rows(f"SELECT * FROM {table}")
        lines += [f"{table} {tuple(row)}" for row in rows]  # type: ignore[call-overload]
    return "\n".join(lines)


@pytest.mark.req("APR-3")
async def test_the_operator_gives_lists_and_revokes_grants_with_patterns(house: House) -> None:
    ann = house.person()
    prefix = Pattern(conditions=(Condition(arg="path", op="prefix", values=("/srv/",)),))
    number = await house.daemon.trust.give_grant("memory:1", "lab", "count", prefix, lasts_s=3_600)
    ann.says('use count {"path": "/srv/a"}')
    await ann.gets("returned: run 1")
    (listed,) = await house.daemon.trust.grants()
    assert (listed.id, listed.subject, listed.tool, listed.words, listed.granted_by) == (
        number,
        "memory:1",
        "lab/count",
        'for 60 min, only where path starts with "/srv/"',
        "operator",
    )
    assert await house.daemon.trust.grants("memory:2") == []

    assert await house.daemon.trust.revoke_grant(number)
    assert not await house.daemon.trust.revoke_grant(number)
    ann.says('use count {"path": "/srv/b"}')
    await ann.gets_card()
    assert len(house.lab.runs) == 1
    assert await actions(house) == ["grant.given", "grant.used", "grant.revoked"]


@pytest.mark.req("APR-8")
async def test_the_audit_log_is_checked_and_exported_and_a_changed_row_is_named(house_of: Open) -> None:
    house = await house_of(audit={"key": "a signing key of the operator"})
    ann = house.person()
    ann.says("use count {}")
    await ann.presses("Once", await ann.gets_card())
    await ann.gets("returned: run 1")
    await house.quiet()
    report = await house.daemon.trust.verify_audit()
    lines = [json.loads(line) async for line in house.daemon.trust.export_audit()]

    assert report.faults == ()
    assert [(line["actor"], line["action"]) for line in lines] == [
        ("parley", "audit.signing_began"),
        ("memory:1", "request.approved"),
    ]
    assert lines[-1]["detail"]["tool"] == "lab/count"
    assert report.head.hash == lines[-1]["hash"]
    await house.database.write(lambda tx: tx.run("UPDATE audit SET actor = 'memory:2' WHERE seq = 2"))
    assert (await house.daemon.trust.verify_audit()).faults == (Fault(seq=2, what="its content was changed"),)


@pytest.mark.req("SES-5", "ACC-5")
async def test_a_person_gets_all_that_is_kept_of_them_and_nothing_of_others(house: House) -> None:
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    ann.says("my word is plum")
    await ann.gets("You said: my word is plum")
    ann.says("use count {}")
    await choose(ann, "Always", "Any arguments")
    await ann.gets("returned: run 1")
    bob.says("my word is pear")
    await bob.gets("You said: my word is pear")
    await house.quiet()

    data = await house.daemon.trust.export_person("memory:1")

    text = json.dumps(data)
    assert "my word is plum" in text
    assert "pear" not in text
    assert [len(data[table]) for table in ("turns", "requests", "grants", "usage")] == [2, 1, 1, 1]
    assert {row["action"] for row in data["audit"]} == {"request.approved", "grant.given", "person.exported"}


@pytest.mark.req("SES-5")
async def test_an_erased_person_leaves_no_trace_and_the_audit_chain_holds(house_of: Open) -> None:
    house = await house_of(
        sessions={"group": "shared"},
        access={"allow": {"memory": ["7777001", "chat:-7"]}, "admins": {"memory": ["2"]}},
    )
    ann = house.person("7777001", "Annabella")
    in_group, bob = house.member("7777001", "Annabella"), house.member("2", "Bob")
    ann.says("my word is plum")
    await ann.gets("You said: my word is plum")
    ann.says("use count {}")
    await choose(ann, "Always", "Any arguments")
    await ann.gets("returned: run 1")
    in_group.says("plum for all", mentions=True)
    await in_group.gets("] plum for all")
    bob.says("mine is pear", mentions=True)
    await bob.gets("mine is pear")
    await house.quiet()

    removed = await house.daemon.trust.erase_person("memory:7777001")
    left = await everything(house)

    assert removed["turns"] == 3
    assert removed["audit"] == 2
    for trace in ("7777001", "Annabella", "plum for all", "my word"):
        assert trace not in left, [line for line in left.splitlines() if trace in line]
    assert "mine is pear" in left
    assert (await house.daemon.trust.verify_audit()).faults == ()
    assert await actions(house) == ["request.approved", "grant.given", "person.erased"]

    bob.says("and now", mentions=True)
    await bob.gets("and now")
    ann.says("hey, it is me")
    await ann.gets("You said: hey, it is me")
    await house.quiet()
    assert "plum" not in str(house.model.asked[-1].lines)


@pytest.mark.req("SES-5")
async def test_a_turn_that_runs_while_its_person_is_erased_writes_nothing_more(house: House) -> None:
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    slow = house.model.hold("slow one")
    ann.says("slow one")
    await slow.reached()
    await house.daemon.trust.erase_person("memory:1")
    slow.open()
    bob.says("good day")
    await bob.gets("You said: good day")
    await house.quiet()

    assert ann.sees() == []
    assert "slow one" not in await everything(house)
