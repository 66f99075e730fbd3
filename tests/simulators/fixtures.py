"""pytest fixtures.

Running simulators on free ports. Import them in a conftest, or load this module as a plug-in: it imports a
simulator only when a test asks for it.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest_asyncio

if TYPE_CHECKING:
    from .discord import DiscordSimulator
    from .model import ModelSimulator
    from .slack import SlackSimulator
    from .telegram import TelegramSimulator


@pytest_asyncio.fixture
async def telegram_sim() -> "AsyncIterator[TelegramSimulator]":
    """A Telegram of this test's own."""
    from .telegram import TelegramSimulator

    async with TelegramSimulator() as sim:
        yield sim


@pytest_asyncio.fixture
async def model_sim() -> "AsyncIterator[ModelSimulator]":
    """A model service of this test's own."""
    from .model import ModelSimulator

    async with ModelSimulator() as sim:
        yield sim


@pytest_asyncio.fixture
async def slack_sim() -> "AsyncIterator[SlackSimulator]":
    """A Slack of this test's own."""
    from .slack import SlackSimulator

    async with SlackSimulator() as sim:
        yield sim


@pytest_asyncio.fixture
async def discord_sim() -> "AsyncIterator[DiscordSimulator]":
    """A Discord of this test's own."""
    from .discord import DiscordSimulator

    async with DiscordSimulator() as sim:
        yield sim
