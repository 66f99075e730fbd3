"""What `parley doctor` prints, and how it ends."""

import json
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from gateway.cli import app, doctoring

pytestmark = pytest.mark.req("OPS-7")


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctoring, "start_logging", lambda *_: None)  # the tests' own stays


def test_in_a_pipe_it_prints_plain_lines_and_without_faults_ends_well(tmp_path: Path):
    ended = CliRunner().invoke(app, ["doctor"])
    assert (ended.exit_code, ended.stderr) == (0, "7 checks: 0 failed, 0 warnings.\n")
    lines = [line.split("\t") for line in ended.stdout.splitlines()]
    assert [line[:3] for line in lines] == [
        ["part", "check", "state"],
        ["configuration", "configuration", "ok"],
        ["machine", "state_dir", "ok"],
        ["machine", "database", "ok"],
        ["machine", "disk", "ok"],
        ["machine", "clock", "ok"],
        ["daemon", "daemon", "ok"],
        ["memory builtin", "provider", "ok"],
    ]
    assert "\x1b" not in ended.stdout
    assert not (tmp_path / "state").exists()  # nothing was changed


def test_a_fault_is_an_exit_code_and_says_what_to_do():
    broken = {"mcpServers": {"gone": {"command": "no-such-program-anywhere"}}}
    Path("config.yaml").write_text(json.dumps(broken))
    with capture_logs():
        ended = CliRunner().invoke(app, ["doctor", "--json"])
    *_, last = json.loads(ended.stdout)
    assert ended.exit_code == 1
    assert last == {
        "part": "tools of gone",
        "name": "tool server",
        "state": "failed",
        "detail": "the program 'no-such-program-anywhere' was not found",
        "fix": "see that its command or url in mcpServers works by itself; all else goes on without it",
    }


def test_a_wrong_configuration_is_told_mistake_by_mistake_and_ends_with_78():
    Path("config.yaml").write_text("telegramm: {token: x}\nturns: {budget: many}\n")
    ended = CliRunner().invoke(app, ["doctor", "--json"])
    assert ended.exit_code == 78
    found = json.loads(ended.stdout)
    assert [(one["part"], one["state"]) for one in found] == [("configuration", "failed")] * 2
    assert all(one["fix"] for one in found)
