"""The short form of `make crash`."""

from pathlib import Path

import pytest

from tests.crash.harness import Plan, TelegramCrash

KILLS = 5


@pytest.mark.req("EVT-3", "DLV-1", "DLV-6", "DLV-7", "QUE-1", "APR-6")
@pytest.mark.timeout(240)
async def test_messages_survive_random_kills_answered_once_and_tools_run_once(tmp_path: Path) -> None:
    tally = await TelegramCrash(tmp_path, Plan(kills=KILLS, users=8, seed=7)).run()
    assert (tally.lost, tally.doubled, tally.notes_twice) == ([], [], [])
    assert tally.kills == KILLS
    assert tally.accepted == tally.answered + tally.excused > 0
