"""Every flow test gets a house of its own; timers and backoffs are made short, so that nobody waits for them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog
from tenacity import wait_fixed

from adapters.memory.settings import MemorySettings
from agent.providers import table
from agent.tools.builtin import builtin_tools
from gateway.adapter import Adapter
from tests.flow import scripted
from tests.flow.house import Clock, House, Lab, Platform

Open = Callable[..., Awaitable[House]]


@pytest.fixture(autouse=True)
def _plain_log() -> Iterator[None]:
    """A traceback with all its variables takes a tenth of a second; some tests bring dozens."""
    renderer = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, renderer])
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {**table.MODULES, scripted.KIND: "tests.flow.scripted"}
    monkeypatch.setattr("agent.providers.table.MODULES", modules)
    monkeypatch.setattr("agent.validation.MODULES", modules)
    monkeypatch.setattr("tests.flow.scripted.model", scripted.ScriptedModel())
    monkeypatch.setattr("gateway.daemon.life.TICK_S", 0.02)
    monkeypatch.setattr("gateway.delivery.outcomes.BACKOFF", wait_fixed(0.02))
    monkeypatch.setattr("gateway.supervisor.RECONNECT", wait_fixed(0.02))


@pytest.fixture
async def house_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Open]:
    """Opens a house with these settings; `platform` is what the memory platform can do, `others` more adapters."""
    opened: list[House] = []

    async def open_house(
        *, platform: dict[str, Any] | None = None, others: Sequence[Adapter] = (), **settings: Any
    ) -> House:
        clock = Clock()
        lab = Lab(read_only=tuple(settings.get("tools", {}).get("read_only", ())))
        own = tuple(tool for tool in builtin_tools() if tool.name == "ask_user")
        monkeypatch.setattr("agent.runtime.builtin_tools", lambda: (*lab.tools(), *own))
        house = House(
            folder=tmp_path,
            model=scripted.model,
            lab=lab,
            clock=clock,
            platform=Platform(MemorySettings(**(platform or {})), clock),
            others=others,
            settings={
                "access": {"allow": {"memory": ["*"]}},
                "models": {"scripted": {"provider": scripted.KIND, "model": "any"}},
                "agents": {"default": {"model": "scripted"}},
                "memory": {"review_every": 1_000},  # a review takes a reply that a test meant for somebody
                **settings,
            },
        )
        opened.append(house)
        await house.start()
        return house

    yield open_house
    for house in opened:
        await house.crash()


@pytest.fixture
async def house(house_of: Open) -> House:
    """A house with the usual settings."""
    return await house_of()
