"""A folder with nothing in it: the product talks, without a key and without a configuration."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.process import command

pytestmark = pytest.mark.req("OPS-1")


async def test_with_nothing_configured_it_talks_in_the_terminal_with_the_demo_model(tmp_path: Path) -> None:
    ended = await command(tmp_path, {}, "run", typed='good day\nuse roll {"sides": 6}\n1\n')

    assert ended.code == 0
    assert "You said: good day" in ended.out
    assert "Approval needed" in ended.out
    assert "demo__roll returned: " in ended.out
    assert "Traceback" not in ended.err


def test_the_distribution_brings_the_command() -> None:
    (script,) = entry_points(group="console_scripts", name="parley")
    assert (script.value, script.dist and script.dist.name) == ("gateway.cli:main", "parley-gateway")
