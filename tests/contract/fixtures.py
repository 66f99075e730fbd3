"""The fixtures of the contract suite, also for adapters elsewhere (package parley_testing).

A test module that has the suite in it names its stages by `STAGES`: a name → a class of stages.
"""

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from .stages.base import RecordingInbox, Running, Stage


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests that not every platform can pass."""
    config.addinivalue_line("markers", "needs(*abilities): only for platforms that have all of these")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Put each of the module's stages on for each test that it is able to."""
    stages = getattr(metafunc.module, "STAGES", None)
    if stages is not None and "stage" in metafunc.fixturenames:
        put_on(metafunc, stages)


def put_on(metafunc: pytest.Metafunc, stages: Mapping[str, Any]) -> None:
    """One test for each stage that has the abilities it needs."""
    needed = {ability for mark in metafunc.definition.iter_markers("needs") for ability in mark.args}
    able = [name for name, stage in stages.items() if needed <= stage.abilities]
    metafunc.parametrize("stage", [stages[name] for name in able], ids=able, indirect=True)


@pytest_asyncio.fixture
async def stage(request: pytest.FixtureRequest) -> "AsyncIterator[Stage]":
    """The platform, with an adapter that does not run yet."""
    async with request.param() as stage:
        yield stage


@pytest.fixture
def inbox() -> "RecordingInbox":
    """The gateway's door."""
    from .stages.base import RecordingInbox

    return RecordingInbox()


@pytest_asyncio.fixture
async def running(stage: "Stage", inbox: "RecordingInbox") -> "AsyncIterator[Running]":
    """The stage's adapter, online."""
    from .stages.base import Running

    running = Running(stage.adapter, inbox)
    await running.start()
    yield running
    await running.stop()
