"""A few of the named points and of the store's kills; `make crash` tries all of them."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from gateway.store import schema
from gateway.store.sqlite import open_database
from tests.crash.points import POINTS
from tests.crash.report import render_block, replace_block
from tests.crash.store_kills import killed_while_saving
from tests.process import environment

pytestmark = pytest.mark.timeout(240)


@pytest.mark.req("DLV-6", "DLV-7", "EVT-3", "OPS-4")
@pytest.mark.parametrize(
    ("name", "platform"),
    [
        ("sent_and_its_answer_is_lost", "Telegram"),
        ("sent_and_its_answer_is_lost", "Slack"),
        ("a_tool_runs", "Telegram"),
    ],
)
async def test_what_is_promised_holds_when_it_is_killed_there(
    tmp_path: Path, name: str, platform: str
) -> None:
    function, platforms = POINTS[name]
    assert platform in platforms
    await function(platform, tmp_path)


@pytest.mark.req("OPS-6")
async def test_a_store_killed_while_it_saves_holds_the_old_or_the_new_state(tmp_path: Path) -> None:
    """C125a."""
    assert await killed_while_saving(tmp_path, kills=6, seed=1) == []


@pytest.mark.req("OPS-6")
@pytest.mark.parametrize("statement", [2, 20, 45])
async def test_a_migration_that_is_killed_begins_anew(tmp_path: Path, statement: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.store_writer",
        "migrate",
        str(tmp_path),
        str(statement),
        env=environment(tmp_path, dict(os.environ)),
    )
    assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL
    database = await open_database(tmp_path / "parley.db")
    assert await database.write(lambda tx: schema.migrate(tx, 0)) == len(schema.MIGRATIONS)
    await database.close()


def test_every_point_says_its_moment_and_what_holds_after_it() -> None:
    for function, _ in POINTS.values():
        assert function.__doc__ is not None
        moment, _, holds = function.__doc__.partition("\n\n")
        assert moment.strip().endswith(".")
        assert holds.strip()


def test_the_block_in_the_document_is_replaced_and_nothing_else() -> None:
    text = "before\n" + render_block("old") + "after\n"
    assert replace_block(text, "new\n| a |") == "before\n" + render_block("new\n| a |") + "after\n"
    with pytest.raises(ValueError, match="no block"):
        replace_block("nothing here", "new")
