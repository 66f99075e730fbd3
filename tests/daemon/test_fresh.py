"""A folder with nothing in it: the product talks, without a key and without a configuration."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.process import START_S, environment

pytestmark = pytest.mark.req("OPS-1")


def test_with_nothing_configured_it_talks_in_the_terminal_with_the_demo_model(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gateway", "run"],
        cwd=tmp_path,
        env=environment(tmp_path, {}),
        input='good day\nuse roll {"sides": 6}\n1\n',
        capture_output=True,
        text=True,
        timeout=START_S,
        check=True,
    )

    assert "You said: good day" in ended.stdout
    assert "Approval needed" in ended.stdout
    assert "demo__roll returned: " in ended.stdout
    assert "Traceback" not in ended.stderr


def test_the_distribution_brings_the_command() -> None:
    (script,) = entry_points(group="console_scripts", name="parley")
    assert (script.value, script.dist and script.dist.name) == ("gateway.cli:main", "parley-gateway")
