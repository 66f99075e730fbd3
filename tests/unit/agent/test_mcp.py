"""MCP servers, as real processes behind the real client library."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent.calls import ResultFile
from agent.questions import Question, Reply, Said
from agent.settings import McpServer
from agent.tools.mcp import McpConnection, McpState
from agent.tools.registry import ToolCallContext, ToolResult
from agent.tools.results import ResultFolder
from gateway.redaction import Redactor

pytestmark = pytest.mark.req("TOL-2", "TOL-3")

FIXTURE = str(Path(__file__).with_name("mcp_fixture_server.py"))
CONTEXT = ToolCallContext(key="call_1_0_0")


def fixture(kind: str, **env: str) -> McpServer:
    return McpServer(command=sys.executable, args=(FIXTURE, kind), env=env)


def connection(
    server: McpServer, folder: Path, *, name: str = "srv", connect_timeout_s: float = 20
) -> McpConnection:
    return McpConnection(
        name,
        server,
        effect_of=lambda server, tool: "read" if tool == "big" else "external",
        results=ResultFolder(folder / "results"),
        mask=Redactor(["hunter2hunter2"]).text,
        connect_timeout_s=connect_timeout_s,
    )


@asynccontextmanager
async def running(*connections: McpConnection) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        for one in connections:
            group.create_task(one.run())
        for one in connections:
            await one.settled()
        yield
        for one in connections:
            one.stop()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something another process does; the test's own time-out bounds it."""
    while not condition():  # noqa: ASYNC110 - another process sets no event of ours
        await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def children() -> set[int]:
    me = os.getpid()
    return {int(p) for p in Path(f"/proc/{me}/task/{me}/children").read_text().split()}


def run_of(one: McpConnection, tool: str) -> Callable[..., Awaitable[ToolResult]]:
    (found,) = [t for t in one.tools if t.tool == tool]
    return lambda **args: found.run(args, CONTEXT)


async def test_the_time_server_is_asked_for_the_time(tmp_path: Path):
    one = connection(McpServer(command=sys.executable, args=("-m", "mcp_server_time")), tmp_path, name="time")
    async with running(one):
        assert one.state == McpState(name="time", status="ready", tools=2)
        assert [tool.name for tool in one.tools] == ["time__get_current_time", "time__convert_time"]
        result = await run_of(one, "get_current_time")(timezone="Asia/Tokyo")
        assert json.loads(result.text)["timezone"] == "Asia/Tokyo"
        wrong = await run_of(one, "get_current_time")(timezone="Nowhere/Land")
        assert wrong.is_error


async def test_a_missing_program_a_silent_and_a_dying_server_are_named_and_hurt_nobody(tmp_path: Path):
    """C132a, C134a: name and reason in the log and the state, no secret in either."""
    secret = "hunter2hunter2"
    good = connection(fixture("good"), tmp_path, name="good")
    gone = connection(McpServer(command="/nowhere/server", env={"KEY": secret}), tmp_path, name="gone")
    silent = connection(fixture("silent"), tmp_path, name="silent", connect_timeout_s=1)
    dies = connection(fixture("dies", KEY=secret), tmp_path, name="dies")
    with capture_logs() as logs:
        async with running(good, gone, silent, dies):
            assert (await run_of(good, "fails")()).text == "it did not work"
            states = [one.state for one in (gone, silent, dies)]
    assert states == [
        McpState(name="gone", status="broken", reason="the program '/nowhere/server' was not found"),
        McpState(name="silent", status="broken", reason="no answer within 1 s"),
        McpState(
            name="dies",
            status="broken",
            reason="MCPError: Connection closed; it last said: cannot start: KEY *** is wrong",
        ),
    ]
    told = {(log["server"], log["reason"]) for log in logs if log["event"] == "mcp.broken"}
    assert told == {(state.name, state.reason) for state in states}
    assert secret not in str(logs)


async def test_a_server_that_prints_before_its_protocol_is_usable(tmp_path: Path):
    """C132b."""
    one = connection(fixture("noisy"), tmp_path)
    with capture_logs() as logs:
        async with running(one):
            assert one.state.status == "ready"
            assert (await run_of(one, "big")(size=3)).text == "xxx"
    heard = [log["line"] for log in logs if log["event"] == "mcp.server_said"]
    assert heard[0] == "not protocol: Welcome to the server!"


async def test_a_tool_listed_twice_is_taken_once_and_named_in_the_log(tmp_path: Path):
    one = connection(fixture("good"), tmp_path)
    with capture_logs() as logs:
        async with running(one):
            assert [tool.tool for tool in one.tools].count("twice") == 1
    assert [log["tool"] for log in logs if log["event"] == "mcp.tool_left_out"] == ["twice"]


@pytest.mark.req("TOL-4")
async def test_pictures_are_kept_as_files_and_named(tmp_path: Path):
    """C138b: no base64 reaches the model."""
    one = connection(fixture("good"), tmp_path)
    async with running(one):
        result = await run_of(one, "picture")()
    picture = ResultFile(kept="call_1_0_0.2.png", name="image-1.png", mime_type="image/png", size_bytes=2_056)
    assert result == ToolResult(
        text="a picture\n[image/png, 2,056 bytes, kept as call_1_0_0.2.png]", files=(picture,)
    )
    assert (tmp_path / "results" / "call_1_0_0.2.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.req("TOL-5")
async def test_a_server_sees_its_own_environment_and_none_of_ours(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PARLEY_TELEGRAM__TOKEN", "ours")
    one = connection(fixture("good", KEY="its own"), tmp_path)
    async with running(one):
        seen = json.loads((await run_of(one, "env")()).text)
    assert seen["KEY"] == "its own"
    assert "PARLEY_TELEGRAM__TOKEN" not in seen
    assert set(seen) <= {"KEY", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


async def test_effects_come_from_configuration_alone(tmp_path: Path):
    one = connection(fixture("good"), tmp_path)
    async with running(one):
        assert {tool.tool: tool.effect for tool in one.tools}["big"] == "read"
        assert {tool.effect for tool in one.tools if tool.tool != "big"} == {"external"}
        assert {tool.default_policy for tool in one.tools} == {"ask"}


@pytest.mark.req("AGT-9")
async def test_cancelling_a_call_reaches_the_server_and_leaves_it_usable(tmp_path: Path):
    one = connection(fixture("good"), tmp_path)
    with capture_logs() as logs:
        async with running(one):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(run_of(one, "slow")(), 0.3)
            await until(lambda: "heard notifications/cancelled" in [log.get("line") for log in logs])
            assert (await run_of(one, "big")(size=1)).text == "x"


async def test_a_server_that_dies_in_a_call_leaves_its_outcome_unknown_and_is_started_again(tmp_path: Path):
    one = connection(fixture("good"), tmp_path)
    async with running(one):
        lost = await run_of(one, "die")()
        assert (lost.is_error, lost.lost) == (True, True)
        assert (await run_of(one, "big")(size=2)).text == "xx"
        assert one.state == McpState(name="srv", status="ready", tools=10)


async def test_a_server_that_died_while_nobody_called_is_noticed_at_once_and_back_for_the_next_call(
    tmp_path: Path,
):
    one = connection(fixture("good"), tmp_path)
    before = children()
    async with running(one):
        (pid,) = children() - before
        os.kill(pid, 9)
        await until(lambda: one.state.status != "ready")
        assert (await run_of(one, "big")(size=1)).text == "x"


async def test_a_changed_list_of_tools_is_read_again(tmp_path: Path):
    one = connection(fixture("good"), tmp_path)
    async with running(one):
        await run_of(one, "more")()
        await until(lambda: any(tool.tool == "late" for tool in one.tools))


@pytest.mark.req("TOL-5")
async def test_stopping_leaves_no_child_and_no_grandchild(tmp_path: Path):
    """C140a, with one server that will not go by itself."""
    good, stubborn = (
        connection(fixture("good"), tmp_path),
        connection(fixture("stubborn"), tmp_path, name="st"),
    )
    before = children()
    with capture_logs() as logs:
        async with running(good, stubborn):
            await run_of(good, "big")(size=1)
            await run_of(stubborn, "big")(size=1)
            pids = children() - before
            assert len(pids) == 2
    said = [log["line"] for log in logs if log["event"] == "mcp.server_said"]
    (grandchild,) = [int(line.split()[1]) for line in said if line.startswith("child")]
    # A killed process takes the kernel a moment.
    await until(lambda: not any(alive(pid) for pid in (*pids, grandchild)))


async def test_stopping_while_a_server_still_connects_does_not_wait_for_it(tmp_path: Path):
    one = connection(fixture("silent"), tmp_path, connect_timeout_s=600)
    before = children()
    async with asyncio.TaskGroup() as group:
        group.create_task(one.run())
        await until(lambda: bool(children() - before))
        one.stop()
    assert not [pid for pid in children() - before if alive(pid)]


@pytest.mark.req("TOL-6")
async def test_a_form_of_the_old_protocol_is_asked_in_the_chat_whose_call_runs(tmp_path: Path):
    replies = iter(["Middle", "3", "Yes"])
    asked: list[str] = []

    async def ask(question: Question) -> Reply:
        asked.append(question.text)
        return Said(text=next(replies))

    async with running(one := connection(fixture("good"), tmp_path)):
        result = await one.call("order", {}, ToolCallContext(key="call_1", ask=ask))
    assert json.loads(result.text) == {
        "action": "accept",
        "content": {"size": "m", "count": 3, "gift": True},
    }
    assert asked == ["Your shirt, please:\n\nSize", "How many", "As a gift (may be skipped)"]


@pytest.mark.req("TOL-6", "ACC-5")
async def test_a_form_that_could_be_either_callers_is_asked_of_neither(tmp_path: Path):
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Said(text="Middle")

    context = ToolCallContext(key="call_1", ask=ask)
    async with running(one := connection(fixture("good"), tmp_path)):
        async with one._forms.during(ask):  # another person's call, on the way to the same server
            result = await one.call("order", {}, context)
        nobody = await one.call("order", {}, CONTEXT)
    assert [json.loads(each.text)["action"] for each in (result, nobody)] == ["cancel", "cancel"]
    assert asked == []


@pytest.mark.req("TOL-6")
async def test_what_is_asked_for_a_call_is_called_off_when_the_call_is(tmp_path: Path):
    asked, called_off = asyncio.Event(), asyncio.Event()

    async def ask(_question: Question) -> Reply:
        asked.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            called_off.set()

    async with running(one := connection(fixture("good"), tmp_path)):
        calling = asyncio.create_task(one.call("order", {}, ToolCallContext(key="call_1", ask=ask)))
        await asked.wait()
        calling.cancel()
        await asyncio.wait([calling])
        assert (calling.cancelled(), called_off.is_set()) == (True, True)


@pytest.mark.req("TOL-3")
async def test_a_server_that_keeps_failing_is_tried_at_its_own_pace_and_holds_up_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pauses: list[float] = []

    async def noted(self: McpConnection, pause_s: float) -> None:
        pauses.append(pause_s)
        if len(pauses) >= 4:
            await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(McpConnection, "_nudged", noted)
    one = connection(fixture("dies"), tmp_path)
    async with running(one):
        await until(lambda: len(pauses) == 4)
        assert (one.state.status, one.tools) == ("broken", ())
        result = await one.call("big", {"size": 1}, CONTEXT)
        assert result == ToolResult(text="The tool server srv is not available.", is_error=True)
        assert len(pauses) == 4
    assert all(0.8 * 2**n <= pause <= 1.2 * 2**n for n, pause in enumerate(pauses))
