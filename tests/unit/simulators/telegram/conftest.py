from collections.abc import AsyncIterator

import pytest_asyncio
from telegram import Bot
from telegram.request import HTTPXRequest

from tests.simulators.telegram import TelegramSimulator, User


@pytest_asyncio.fixture
async def ada(telegram_sim: TelegramSimulator) -> User:
    return telegram_sim.add_user(101, "Ada", "ada")


@pytest_asyncio.fixture
async def bot(telegram_sim: TelegramSimulator) -> AsyncIterator[Bot]:
    base = telegram_sim.url
    # Loading the system's certificates, needless on loopback, is most of what a Bot costs.
    requests = [HTTPXRequest(httpx_kwargs={"verify": False}) for _ in range(2)]
    async with Bot(
        telegram_sim.token,
        base_url=base + "/bot",
        base_file_url=base + "/file/bot",
        request=requests[0],
        get_updates_request=requests[1],
    ) as bot:
        yield bot
