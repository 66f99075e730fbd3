"""The whole examination, without a daemon: adapters that are well, ill, mute or broken."""

import asyncio
import sys
from pathlib import Path

import pytest
import yaml

from adapters.memory.adapter import MemoryAdapter
from gateway.adapter import Checkup, Finding
from gateway.config import Config, ConfigError, load_config
from gateway.doctor import AccountToCheck, Part, accounts, examine
from gateway.doctor.parts import worst
from gateway.errors import AdapterError
from gateway.store.sqlite import open_database
from tests.simulators.model import ModelSimulator

pytestmark = pytest.mark.req("OPS-7")

SECRET = "a-secret-that-nobody-may-read"


class Checked:
    """An adapter that says what it is told to, or breaks."""

    def __init__(self, said: Checkup | Exception) -> None:
        self._said = said

    async def check(self) -> Checkup:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said


class Mute:
    """An adapter of a platform that never answers."""

    async def check(self) -> Checkup:
        return await asyncio.get_running_loop().create_future()


def config(folder: Path, text: str = "") -> Config:
    (folder / "config.yaml").write_text(f"state_dir: {folder / 'state'}\naudit: {{key: {SECRET}}}\n{text}")
    (folder / "config.yaml").chmod(0o600)
    return load_config(path=folder / "config.yaml", environ={}, sections={})


def account(place: str, said: Checkup | Exception) -> AccountToCheck:
    return AccountToCheck(place=place, make=lambda: Checked(said))


def named(parts: tuple[Part, ...]) -> dict[str, Part]:
    return {part.name: part for part in parts}


async def test_every_part_is_looked_at_and_a_broken_adapter_hides_nobody(tmp_path: Path):
    def lacking() -> object:
        raise AdapterError("sdk is not installed: run `pip install …`")

    well = Finding(name="token", state="ok", detail="@bot")
    parts = await examine(
        config(tmp_path),
        [
            account("one", ValueError("oops")),
            AccountToCheck(place="two", make=lacking),
            AccountToCheck(place="three", make=MemoryAdapter),
            account("four", Checkup(findings=(well,))),
        ],
    )
    found = named(parts)
    assert list(found)[:7] == ["configuration", "machine", "daemon", "one", "two", "three", "four"]
    assert {name: part.state for name, part in found.items()} == {
        "configuration": "ok",
        "machine": "ok",
        "daemon": "ok",
        "one": "failed",
        "two": "failed",
        "three": "ok",
        "four": "ok",
        "memory builtin": "ok",
    }
    assert found["one"].findings[0].detail == "its check broke: ValueError"
    assert found["two"].findings[0].fix == "sdk is not installed: run `pip install …`"
    assert found["four"].findings == (well,)


async def test_no_secret_comes_out_whatever_a_check_says(tmp_path: Path):
    said = Finding(name="token", state="failed", detail=f"{SECRET} is refused", fix=f"replace {SECRET}")
    parts = await examine(config(tmp_path), [account("one", Checkup(findings=(said,)))])
    assert SECRET not in repr(parts)


async def test_a_platform_that_does_not_answer_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(accounts, "CHECK_S", 0.0)
    parts = await examine(config(tmp_path), [AccountToCheck(place="one", make=Mute)])
    assert named(parts)["one"].findings[0].detail == "no answer within 0 s"


async def test_the_platforms_clocks_are_what_ours_is_held_beside(tmp_path: Path):
    said = Checkup(findings=(Finding(name="token", state="ok"),), server_date="Mon, 03 Feb 2020 10:00:00 GMT")
    machine = named(await examine(config(tmp_path), [account("one", said)]))["machine"]
    assert next(finding for finding in machine.findings if finding.name == "clock").state == "failed"


async def test_a_models_service_is_asked_for_the_model_without_spending_a_token(tmp_path: Path):
    async with ModelSimulator() as sim:
        sim.api_key, sim.models = "sk-right", ("sim", "sim-mini")
        entries = {
            "right": {"model": "sim", "api_key": "sk-right"},
            "misspelt": {"model": "sim-mimi", "api_key": "sk-right"},
            "locked": {"model": "sim", "api_key": "sk-wrong"},
            "away": {"model": "sim", "api_key": "sk-right", "base_url": "http://127.0.0.1:9/v1"},
        }
        models = {
            name: {"provider": "openai", "base_url": sim.base_url, **one} for name, one in entries.items()
        }
        agents = {name: {"model": name} for name in entries} | {"default": {"model": "right"}}
        text = yaml.safe_dump({"models": models, "agents": agents})
        found = named(await examine(config(tmp_path, text), []))["models"]
        assert set(sim.recorder.counts()) == {"models"}
    assert {finding.name: finding.state for finding in found.findings} == {
        "right": "ok",
        "misspelt": "warning",
        "locked": "failed",
        "away": "failed",
    }
    texts = {finding.name: f"{finding.detail}; {finding.fix}" for finding in found.findings}
    assert "did you mean sim-mini?" in texts["misspelt"]
    assert "models.locked.api_key" in texts["locked"]
    assert "sk-" not in repr(found)


@pytest.mark.req("TOL-3")
async def test_tool_servers_are_tried_where_no_daemon_has_them(tmp_path: Path):
    demo = f"[-m, agent.tools.demo_server, {tmp_path / 'notes'}]"
    servers = (
        f"mcpServers:\n  good: {{command: {sys.executable}, args: {demo}}}\n"
        "  bad: {command: no-such-program-anywhere}\n"
    )
    found = named(await examine(config(tmp_path, servers), []))
    assert found["tools of good"].state == "ok"
    assert found["tools of bad"].state == "failed"
    assert "no-such-program-anywhere" in found["tools of bad"].findings[0].detail


async def test_an_agent_that_names_a_tool_that_is_not_there_is_bad_configuration(tmp_path: Path):
    with pytest.raises(ConfigError):
        await examine(config(tmp_path, "agents: {default: {skills: [/no/such/folder]}}\n"), [])


async def test_a_process_that_has_the_state_and_does_not_answer_is_a_failure(tmp_path: Path):
    loaded = config(tmp_path)
    loaded.state_dir.mkdir(mode=0o700)
    opened = await open_database(loaded.state_dir / "parley.db")
    found = named(await examine(loaded, []))
    await opened.close()
    assert found["daemon"].state == "failed"


async def test_a_file_that_is_no_database_fails(tmp_path: Path):
    loaded = config(tmp_path)
    loaded.state_dir.mkdir(mode=0o700)
    (loaded.state_dir / "parley.db").write_text("not a database at all, whatever it is called")
    assert named(await examine(loaded, []))["machine"].state == "failed"


def test_the_worst_of_nothing_is_ok():
    assert [worst(()), worst(["ok", "warning"]), worst(["warning", "failed", "ok"])] == [
        "ok",
        "warning",
        "failed",
    ]
