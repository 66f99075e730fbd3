"""The one door in, at its edges: what is broken, what is empty, what is not served yet."""

import asyncio
from dataclasses import replace
from datetime import datetime

import pytest

from gateway.messages import Attachment, MessageDeleted, MessageEdited
from gateway.store import lanes
from tests.flow.conftest import Open
from tests.flow.house import House


@pytest.mark.req("DLV-1")
async def test_an_update_that_breaks_intake_is_said_so_and_does_not_hold_up_those_after_it(
    house: House,
) -> None:
    ann = house.person()
    broken = ann.says("broken")
    house.platform._inbound[-1].update = replace(broken, sent_at=datetime(2026, 1, 1))  # noqa: DTZ001
    ann.says("plum")
    await ann.gets("Something went wrong inside me and I could not take this in.")
    await ann.gets("You said: plum")
    await house.quiet()

    assert house.model.questions == ["plum"]
    assert await house.values("SELECT became FROM inbox ORDER BY rowid") == ["turn", "broken"]
    assert house.platform.connections == 1


@pytest.mark.req("DLV-1", "OPS-9")
async def test_what_cannot_be_stored_is_not_acknowledged_and_comes_again(house: House) -> None:
    ann = house.person()
    ann.says("before")
    await ann.gets("You said: before")
    await house.quiet()
    database = house.database
    database._closed = True  # every write is refused
    ann.says("plum")
    async with asyncio.timeout(10):
        while house.platform.connections < 2:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
    database._closed = False
    await ann.gets("You said: plum")

    assert house.model.questions == ["before", "plum"]


@pytest.mark.req("ADP-7")
@pytest.mark.parametrize("text", ["/new", "/stop", "new words"])
async def test_an_edit_never_starts_a_turn_nor_runs_a_command(house: House, text: str) -> None:
    """C86c."""
    ann = house.person()
    said = ann.says("plum")
    await ann.gets("You said: plum")
    edit = MessageEdited(id="e1", message_id=said.message_id, source=ann.source, text=text)
    await asyncio.wait_for(house.platform.deliver(edit), 10)
    await house.quiet()

    assert len(ann.sees()) == 1
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]
    assert await house.values("SELECT COUNT(*) FROM sessions") == [1]


@pytest.mark.req("ADP-7")
async def test_a_deletion_of_what_is_answered_changes_nothing(house: House) -> None:
    ann = house.person()
    said = ann.says("plum")
    await ann.gets("You said: plum")
    deletion = MessageDeleted(id="d1", message_id=said.message_id, source=ann.source)
    await asyncio.wait_for(house.platform.deliver(deletion), 10)
    await house.quiet()

    assert len(ann.sees()) == 1


@pytest.mark.req("ADP-6")
async def test_bots_are_not_answered_unless_that_is_configured(house_of: Open) -> None:
    """C86d, C102b."""
    house = await house_of()
    bot = house.member("8", "Robot")
    for _ in range(40):
        said = bot.says("beep", mentions=True)
        house.platform._inbound[-1].update = replace(said, mentions_bot=True, from_bot=True)
    await house.quiet()

    assert house.platform.shown == ()
    assert house.model.asked == []


async def test_a_message_without_words_is_told_what_is_not_read(house: House) -> None:
    ann = house.person()
    said = ann.says("")
    photo = Attachment(kind="image", ref="f1", name="cat.png")
    house.platform._inbound[-1].update = replace(said, attachments=(photo,))
    await ann.gets("I cannot read this (cat.png).")
    ann.says("   ")
    await house.quiet()

    assert len(ann.sees()) == 1
    assert house.model.asked == []


@pytest.mark.req("QUE-1", "OPS-5")
async def test_a_lost_kick_is_found_by_the_sweep(house_of: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.daemon.life.SWEEP_EVERY_S", 0.04)
    house = await house_of()
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    # As a crash between commit and kick, or a database put back from a backup, leaves it:
    await house.database.write(
        lambda tx: tx.run("UPDATE turns SET state = 'queued'") and tx.run("DELETE FROM turn_events")
    )
    await house.database.write(lambda tx: tx.run("UPDATE lanes SET active = 1"))
    await house.database.write(lambda tx: tx.run("DELETE FROM outbox"))
    async with asyncio.timeout(10):
        await house.platform.wait_shown(2)
    await house.quiet()

    assert house.model.questions == ["plum", "plum"]


@pytest.mark.req("QUE-1")
async def test_the_sweep_does_not_disturb_what_runs_or_waits(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.daemon.life.SWEEP_EVERY_S", 0.02)
    house = await house_of()
    ann, bob = house.person("1"), house.person("2", "Bob")
    slow = house.model.hold("slow")
    ann.says("slow")
    bob.says("use count {}")
    card = await bob.gets_card()
    await slow.reached()
    seen = 0
    runnable = lanes.runnable

    def counting(tx: object) -> object:
        nonlocal seen
        seen += 1
        return runnable(tx)  # type: ignore[arg-type]

    monkeypatch.setattr("gateway.store.lanes.runnable", counting)
    async with asyncio.timeout(10):
        while seen < 3:
            await house.database.write(lambda tx: None)
    slow.open()
    await bob.presses("Once", card)
    await ann.gets("You said: slow")
    await bob.gets("returned: run 1")
    await house.quiet()

    assert house.model.questions.count("slow") == 1
    assert house.lab.runs == [("count", {})]
    assert [payload for kind, payload in await house.events(1) if kind == "done"] != []
