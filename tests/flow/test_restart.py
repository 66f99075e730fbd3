"""`/restart`: for admins, once, and told when it is done."""

import asyncio

import pytest

from gateway.daemon import EXIT_RESTART
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House

ADMIN = {"access": {"allow": {"memory": ["*"]}, "admins": {"memory": ["1"]}}}


async def _ends_for_a_restart(house: House) -> None:
    assert house._running is not None
    assert await asyncio.wait_for(house._running, WAIT_S) == EXIT_RESTART
    await house._leave()


@pytest.mark.req("OPS-4", "ACC-2")
async def test_restart_is_an_orderly_stop_with_75_and_a_repeat_of_it_restarts_nothing(house_of: Open) -> None:
    """C51a: the platform repeats the command to the new process; the user hears once that it is done."""
    house = await house_of(**ADMIN, shutdown={"drain_s": 0})
    ann, bob = house.person("1"), house.person("2", "Bob")
    slow = house.model.hold("slow")
    bob.says("slow")
    await slow.reached()
    asked = ann.says("/restart")
    await _ends_for_a_restart(house)
    assert ann.sees() == ["I am restarting, and tell you here when I am back."]
    slow.open()

    await house.start()
    house.platform.say("/restart", ann.source, repeat_of=asked.id)
    await ann.gets("I am back: the restart is done.")
    await bob.gets("You said: slow")
    await house.quiet()
    assert not house.daemon._stop.is_set()
    await house.restart()
    await house.quiet()

    assert len(ann.sees()) == 2


@pytest.mark.req("OPS-4", "DLV-1")
async def test_a_restart_whose_message_was_stored_before_a_crash_is_done_by_it(house_of: Open) -> None:
    house = await house_of(**ADMIN)
    ann = house.person("1")
    asked = ann.says("/restart")
    await house.platform.wait_received()
    await house.crash()
    await house.start()
    house.platform.say("/restart", ann.source, repeat_of=asked.id)
    await ann.gets("I am back: the restart is done.")
    await house.quiet()
    assert not house.daemon._stop.is_set()
    assert sum("restart is done" in text for text in ann.sees()) == 1


@pytest.mark.req("ACC-2")
async def test_who_is_no_admin_restarts_nothing(house_of: Open) -> None:
    house = await house_of(**ADMIN)
    bob = house.person("2", "Bob")
    bob.says("/restart")
    await bob.gets("Only an admin may restart me.")
    bob.says("plum")
    await bob.gets("You said: plum")
    assert house.daemon.exit_code == 0
