"""pytest fixtures.

Running simulators on free ports. Import them in a conftest, or load this module as a plug-in.
"""

from collections.abc import AsyncIterator

import pytest_asyncio

from .telegram import TelegramSimulator


@pytest_asyncio.fixture
async def telegram_sim() -> AsyncIterator[TelegramSimulator]:
    """A Telegram of this test's own."""
    async with TelegramSimulator() as sim:
        yield sim
