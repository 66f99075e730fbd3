"""Every stage for every contract test, except for what a platform cannot do."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract import fixtures
from tests.contract.fixtures import inbox, pytest_configure, running, stage
from tests.contract.stages.discord import DiscordStage
from tests.contract.stages.memory import MemoryStage
from tests.contract.stages.slack import SlackHttpStage, SlackStage
from tests.contract.stages.telegram import TelegramStage, TelegramWebhookStage
from tests.contract.stages.terminal import TerminalStage
from tests.postgres import Server, find_programs, running_server

__all__ = ["inbox", "pytest_configure", "pytest_generate_tests", "running", "stage"]

STAGES: dict[str, Any] = {
    "memory": MemoryStage,
    "terminal": TerminalStage,
    "telegram": TelegramStage,
    "telegram_webhook": TelegramWebhookStage,
    "discord": DiscordStage,
    "slack": SlackStage,
    "slack_http": SlackHttpStage,
}
"""A further adapter adds one line here and a stage of its own."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stage" in metafunc.fixturenames:
        fixtures.put_on(metafunc, STAGES)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server that all tests of this process share, each with a database of its own."""
    programs = find_programs()
    assert programs is not None
    with running_server(programs) as server:
        yield server
