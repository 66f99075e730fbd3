"""The simulated Telegram as the real python-telegram-bot sees it: messages."""

import pytest
from telegram import Bot

pytestmark = pytest.mark.req("ADP-10")


def make_bot(sim):
    return Bot(sim.token, base_url=sim.url + "/bot", base_file_url=sim.url + "/file/bot")


async def test_a_bot_hears_a_person_and_answers(telegram_sim):
    sim = telegram_sim
    ada = sim.add_user(name="Ada")
    async with make_bot(sim) as bot:
        sim.say(ada, "hello")
        updates = await bot.get_updates(timeout=5)
        assert [update.message.text for update in updates] == ["hello"]
        await bot.send_message(ada.id, "hi there")
    assert [message.text for message in sim.replies(ada)] == ["hi there"]
    assert not sim.refusals
    assert not sim.violations
