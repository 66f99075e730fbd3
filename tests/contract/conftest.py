"""Every stage for every contract test, except for what a platform cannot do."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.contract.stages.base import RecordingInbox, Running, Stage
from tests.contract.stages.discord import DiscordStage
from tests.contract.stages.memory import MemoryStage
from tests.contract.stages.slack import SlackHttpStage, SlackStage
from tests.contract.stages.telegram import TelegramStage, TelegramWebhookStage
from tests.contract.stages.terminal import TerminalStage
from tests.postgres import Server, find_programs, running_server

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


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*abilities): only for platforms that have all of these")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stage" in metafunc.fixturenames:
        needed = {ability for mark in metafunc.definition.iter_markers("needs") for ability in mark.args}
        able = [name for name, stage in STAGES.items() if needed <= stage.abilities]
        metafunc.parametrize("stage", able, indirect=True)


@pytest.fixture
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with STAGES[request.param]() as stage:
        yield stage


@pytest.fixture
def inbox() -> RecordingInbox:
    return RecordingInbox()


@pytest.fixture
async def running(stage: Stage, inbox: RecordingInbox) -> AsyncIterator[Running]:
    """The stage's adapter, online."""
    running = Running(stage.adapter, inbox)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server that all tests of this process share, each with a database of its own."""
    programs = find_programs()
    assert programs is not None
    with running_server(programs) as server:
        yield server
