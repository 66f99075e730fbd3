"""The systemd unit in `deploy/` says the same as the daemon."""

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from adapters import find_adapters
from gateway.config import EXIT_BAD_CONFIG, load_config
from gateway.daemon import EXIT_RESTART
from gateway.daemon.life import SETTLE_S

UNIT = Path(__file__).parents[2] / "deploy" / "parley.service"


@pytest.fixture
def unit() -> dict[str, list[str]]:
    found = defaultdict(list)
    for line in UNIT.read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found[key].append(value)
    return dict(found)


@pytest.mark.req("OPS-3")
def test_the_unit_waits_for_ready_and_knows_the_exit_codes(unit):
    assert unit["Type"] == ["notify"]
    assert unit["Restart"] == ["on-failure"]
    assert unit["RestartForceExitStatus"] == [str(EXIT_RESTART)]
    assert unit["RestartPreventExitStatus"] == [str(EXIT_BAD_CONFIG)]
    assert unit["StateDirectory"] == ["parley"]


@pytest.mark.req("OPS-3")
def test_a_stop_leaves_running_turns_the_time_they_are_promised(unit):
    drain_s = load_config(path=None, environ={}, sections={}).shutdown.drain_s

    assert float(unit["TimeoutStopSec"][0]) == drain_s + SETTLE_S + 5
    assert float(unit["WatchdogSec"][0]) >= 30


@pytest.mark.req("OPS-3", "ACC-4")
def test_every_credential_of_the_unit_is_a_key_of_the_configuration(unit, tmp_path):
    names = [line.partition(":")[0] for line in unit["LoadCredential"]]
    for name in names:
        (tmp_path / name).write_text("12345678:a-secret")
    sections = {name: entry.load_settings() for name, entry in find_adapters().items()}

    config = load_config(path=None, environ={"CREDENTIALS_DIRECTORY": str(tmp_path)}, sections=sections)

    assert names
    assert {config.origin(tuple(name.split("."))) for name in names} == {
        f"credential {name}" for name in names
    }
    assert config.secrets() == ("12345678:a-secret",)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_nothing_to_complain_of(tmp_path):
    # It looks for the program, which comes when the daemon is installed.
    text = UNIT.read_text("utf-8").replace("/opt/parley/bin/parley", "/bin/true")
    (tmp_path / "parley.service").write_text(text)

    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "parley.service")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
