"""An account that another process serves is left out, said so, and the others go on."""

import os

import pytest

from adapters.memory.adapter import MemoryAdapter
from adapters.memory.settings import MemorySettings
from gateway.seats import Seats
from tests.flow.conftest import Open

pytestmark = pytest.mark.req("OPS-5")


class Seated(MemoryAdapter):
    """An account that only one process may serve."""

    seat = f"tests/flow/test_seats {os.getpid()}"


async def test_an_account_that_is_served_elsewhere_is_left_out_and_the_others_answer(
    house_of: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = Seated(MemorySettings(platform="memory", account="taken"))
    elsewhere = Seats()
    assert elsewhere.take(f"memory {Seated.seat}")
    house = await house_of(others=[taken])
    try:
        ann = house.person()
        ann.says("plum")
        await ann.gets("You said: plum")
        ann.says("/status")
        await ann.gets("memory[1]: another parley process on this machine serves this account")
    finally:
        elsewhere.leave()
    assert taken.connections == 0
    assert "adapter.taken" in capsys.readouterr().out
