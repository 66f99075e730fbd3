"""Real tool servers behind a running gateway: what is too long, what is broken, and what is left at the end."""

import os
import sys
from pathlib import Path

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says

FIXTURE = str(Path(__file__).parents[1] / "unit" / "agent" / "mcp_fixture_server.py")
BIG = 1_000_000


def fixture(kind: str) -> dict[str, object]:
    return {"command": sys.executable, "args": [FIXTURE, kind]}


async def with_servers(house_of: Open, *kinds: str) -> House:
    return await house_of(mcpServers={kind: fixture(kind) for kind in kinds}, approvals={"allow": ["*/*"]})


@pytest.mark.req("TOL-4")
async def test_a_megabyte_reaches_the_model_cut_and_stands_in_the_store_not_even_once(
    house_of: Open,
) -> None:
    """C138a, with a fifth of its size: `test_results` cuts all of it."""
    house = await with_servers(house_of, "good")
    house.model.then(calls(("good__big", {"size": BIG})), says("that was long"))
    ann = house.person()
    ann.says("go")
    await ann.gets("that was long")
    await house.quiet()

    _, result = house.model.asked[-1].lines[-1]
    assert len(result) == 50_000
    assert result.endswith(
        "[… cut here: the result has 1,000,000 characters; the whole is kept as call_1_0_0.txt]"
    )
    assert (house.folder / "state" / "results" / "call_1_0_0.txt").stat().st_size == BIG
    assert house.database.size_bytes() < BIG
    assert await house.values("SELECT state FROM turns") == ["done"]


@pytest.mark.req("AGT-8", "APR-1")
async def test_a_call_with_half_its_arguments_runs_nothing_and_the_corrected_one_does(house_of: Open) -> None:
    """C142a."""
    house = await with_servers(house_of, "good")
    house.model.then(calls(("good__big", '{"size": 1')), calls(("good__big", {"size": 3})), says("done"))
    ann = house.person()
    ann.says("go")
    await ann.gets("done")
    await house.quiet()

    outcome, words = house.model.asked[1].lines[-1]
    assert outcome == "failed"
    assert words.startswith("good__big was not run: its arguments are not a valid JSON object.")
    assert house.model.asked[2].lines[-1] == ("success", "xxx")
    assert await house.values("SELECT COUNT(*) FROM requests") == [0]


@pytest.mark.req("TOL-3", "TOL-5", "OPS-4")
async def test_two_servers_are_called_stopped_with_the_daemon_and_leave_no_child(house_of: Open) -> None:
    """C140a, C134a: and one that never starts is named where the others are."""
    house = await house_of(
        mcpServers={"one": fixture("good"), "two": fixture("good"), "gone": {"command": "no-such-program"}},
        approvals={"allow": ["*/*"]},
    )
    house.model.then(calls(("one__env", {}), ("two__env", {})), says("done"))
    ann = house.person()
    ann.says("go")
    await ann.gets("done")
    ann.says("/status")
    status = await ann.gets("Tools of gone")
    children = _children()
    await house.stop()

    assert {line for line in status.text.splitlines() if line.startswith("Tools of")} == {
        "Tools of one: 10 ready",
        "Tools of two: 10 ready",
        "Tools of gone: the program 'no-such-program' was not found",
    }
    assert len(children) == 2
    assert children & _children() == set()


def _children() -> set[int]:
    """The living children of this process."""
    found = set()
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if folder.name.isdecimal() and fields[1] == str(os.getpid()) and fields[0] != "Z":
            found.add(int(folder.name))
    return found
