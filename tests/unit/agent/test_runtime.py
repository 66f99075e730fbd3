"""The runtime: from settings to snapshots, with everything it starts gone at the end."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.events import Responded, ToolReturned
from agent.runtime import AgentRuntime
from agent.settings import AgentProfile, AgentSettings, McpServer, ModelProfile, ToolRules
from agent.tools.builtin import builtin_tools
from agent.tools.mcp import McpState
from agent.tools.workspace import workspace_tools
from agent.validation import check_settings
from tests.unit.agent.scripted import Orders, run_chat

pytestmark = pytest.mark.req("AGT-4", "AGT-10", "TOL-1", "TOL-3")

OWN = sorted(tool.ref for tool in (*builtin_tools(), *workspace_tools(Path("unused"))))


@pytest.fixture
def demo(tmp_path: Path) -> AgentSettings:
    return AgentSettings(
        agents={"default": AgentProfile()},
        models={"demo": ModelProfile(provider="demo")},
        state_dir=tmp_path,
        demo_delay_s=0,
        tools=ToolRules(first_wait_s=20, connect_timeout_s=20),
    )


@asynccontextmanager
async def started(settings: AgentSettings) -> AsyncIterator[AgentRuntime]:
    runtime = AgentRuntime(settings, mask=str)
    async with asyncio.TaskGroup() as group:
        group.create_task(runtime.run())
        assert await runtime.ready(60)
        yield runtime
        await runtime.aclose()


async def test_the_demo_agent_has_our_own_server_and_writes_a_note_when_asked(demo: AgentSettings):
    async with started(demo) as runtime:
        snapshot = await runtime.snapshot("default")
        assert {spec.ref for spec in snapshot.tools.specs} == {
            "demo/echo",
            "demo/read_notes",
            "demo/roll",
            "demo/write_note",
            *OWN,
        }
        gate = Orders()
        note = 'use write_note {"text": "buy milk"}\nuse read_notes'
        events = await run_chat(snapshot, gate, text=note)
        assert runtime.status() == (McpState(name="demo", status="ready", tools=4),)
    written = (demo.state_dir / "notes" / "notes.txt").read_text("utf-8")
    assert written.endswith(" buy milk\n")
    assert [e.content for e in events if isinstance(e, ToolReturned)] == ["Written down.", written]
    assert gate.asked == [("0.0", "demo/write_note", "ask"), ("0.1", "demo/read_notes", "ask")]
    said = [e.text for e in events if isinstance(e, Responded)]
    assert said == [
        "I call `demo__write_note`, `demo__read_notes`.",
        f"`demo__write_note` returned: Written down.\n\n`demo__read_notes` returned: {written}",
    ]


async def test_now_needs_no_question_and_no_server(demo: AgentSettings):
    async with started(replace(demo, demo_server=False)) as runtime:
        gate = Orders()
        events = await run_chat(
            await runtime.snapshot("default"),
            gate,
            text='use now {"timezone": "Asia/Tokyo"}\nuse now {"zone": 1}',
        )
    first, second = [e for e in events if isinstance(e, ToolReturned)]
    assert first.outcome == "ok"
    assert first.content.endswith(" JST (UTC+0900)")
    assert (second.outcome, second.content) == ("error", "zone: Unexpected keyword argument")
    assert gate.asked == [("0.0", "builtin/now", "allow"), ("0.1", "builtin/now", "allow")]


async def test_an_agents_tools_are_those_its_globs_mean(demo: AgentSettings):
    agents = {
        "dicer": AgentProfile(tools=("demo/ro*",)),
        "timer": AgentProfile(tools=("now",)),
        "bare": AgentProfile(tools=()),
    }
    async with started(replace(demo, agents=agents)) as runtime:
        tools = {
            name: [spec.ref for spec in (await runtime.snapshot(name)).tools.specs if "task" not in spec.ref]
            for name in agents
        }
    assert tools == {"dicer": ["demo/roll"], "timer": ["builtin/now"], "bare": []}


async def test_our_demo_server_is_not_for_agents_with_a_real_model(demo: AgentSettings):
    models = {
        **demo.models,
        "gpt": ModelProfile(provider="openai", model="m", base_url="http://127.0.0.1:9/v1"),
    }
    agents = {**demo.agents, "real": AgentProfile(model="gpt")}
    async with started(replace(demo, models=models, agents=agents)) as runtime:
        refs = [spec.ref for spec in (await runtime.snapshot("real")).tools.specs]
    assert refs == [*OWN, "tasks/task_begin", "tasks/task_end"]


async def test_a_fingerprint_changes_with_persona_and_tools_and_with_nothing_else(demo: AgentSettings):
    plain = replace(demo, demo_server=False)
    polite = replace(plain, agents={"default": AgentProfile(instructions="Be polite.")})
    bare = replace(plain, agents={"default": AgentProfile(tools=())})
    prints = []
    for settings in (plain, plain, polite, bare):
        async with started(settings) as runtime:
            prints.append((await runtime.snapshot("default")).fingerprint)
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


async def test_a_silent_server_delays_the_first_turn_by_the_stated_bound_and_no_more(demo: AgentSettings):
    """C132a."""
    silent = McpServer(command=sys.executable, args=("-c", "import sys; sys.stdin.read()"))
    rules = ToolRules(first_wait_s=0.2, connect_timeout_s=600)
    settings = replace(demo, demo_server=False, mcp_servers={"silent": silent}, tools=rules)
    async with started(settings) as runtime:
        snapshot = await runtime.snapshot("default")
        assert [spec.ref for spec in snapshot.tools.specs] == OWN
        assert runtime.status() == (McpState(name="silent", status="connecting"),)


async def test_an_unknown_agent_is_a_key_error(demo: AgentSettings):
    async with started(replace(demo, demo_server=False)) as runtime:
        with pytest.raises(KeyError):
            await runtime.snapshot("nobody")


async def test_a_runtime_that_does_not_run_is_not_ready(demo: AgentSettings):
    assert not await AgentRuntime(demo, mask=str).ready(0.01)


def test_wrong_settings_are_refused_before_anything_starts(demo: AgentSettings):
    with pytest.raises(SettingsError):
        AgentRuntime(replace(demo, agents={"a": AgentProfile(model="none")}), mask=str)


def test_what_the_gateway_imports_at_start_loads_no_model_or_tool_library():
    code = (
        "import sys, agent.runtime, agent.chat, agent.records;"
        "print([m for m in ('pydantic_ai', 'mcp', 'openai', 'httpx2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.req("TOL-1")
async def test_a_toolset_is_switched_off_for_an_agent_or_on_a_platform(demo: AgentSettings):
    agents = {"reader": AgentProfile(tools=("files", "now")), "all": AgentProfile()}
    rules = replace(demo.tools, off={"telegram": ("files", "demo/*"), "slack": ("*",)})
    async with started(replace(demo, agents=agents, tools=rules)) as runtime:
        places = [
            ("reader", ""),
            ("reader", "telegram"),
            ("all", "telegram"),
            ("all", "slack"),
            ("all", "web"),
        ]
        tools = [
            {spec.ref for spec in (await runtime.snapshot(*place)).tools.specs if "task" not in spec.ref}
            for place in places
        ]
    everything = {*OWN, "demo/echo", "demo/roll", "demo/read_notes", "demo/write_note"}
    files = {"builtin/list_files", "builtin/read_file"}
    assert tools == [{*files, "builtin/now"}, {"builtin/now"}, set(OWN) - files, set(), everything]


@pytest.mark.req("TOL-1")
def test_a_toolset_nobody_knows_is_refused(demo: AgentSettings):
    rules = replace(demo.tools, off={"telegram": ("flies",)})
    with pytest.raises(SettingsError) as caught:
        check_settings(replace(demo, tools=rules))
    assert str(caught.value) == "tools.off.telegram: there is no 'flies'; did you mean 'files'?"
