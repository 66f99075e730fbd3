"""What the doctor hears of a Telegram bot, asked of the simulator through the real library."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest

from adapters.commands import COMMANDS
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from gateway.adapter import Checkup
from tests.simulators.telegram import TelegramSimulator

pytestmark = pytest.mark.req("OPS-7", "ADP-2")


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    async with TelegramSimulator() as sim:
        yield sim


@pytest.fixture(autouse=True)
def _menu(sim: TelegramSimulator) -> None:
    menu = [{"command": command.name, "description": command.description} for command in COMMANDS]
    sim.account.commands[json.dumps([{"type": "default"}, ""])] = menu


async def check(sim: TelegramSimulator, **settings: object) -> Checkup:
    return await TelegramAdapter(
        TelegramSettings(**({"token": sim.token, "api_base": sim.url} | settings))
    ).check()


def states(checkup: Checkup) -> dict[str, str]:
    return {finding.name: finding.state for finding in checkup.findings}


async def test_a_bot_that_hears_everything_in_groups_has_nothing_to_mend(sim: TelegramSimulator):
    sim.account.reads_all = True
    checkup = await check(sim)
    assert states(checkup) == {"token": "ok", "privacy mode": "ok"}
    assert checkup.findings[0].detail == f"@{sim.account.user.username}, id {sim.bot_id}"
    assert abs((parsedate_to_datetime(checkup.server_date) - datetime.now(UTC)).total_seconds()) < 60


async def test_privacy_mode_is_a_warning_that_says_how_to_switch_it_off(sim: TelegramSimulator):
    sim.account.reads_all = False
    checkup = await check(sim)
    assert states(checkup) == {"token": "ok", "privacy mode": "warning"}
    assert "/setprivacy" in checkup.findings[1].fix


async def test_a_webhook_beside_polling_is_named_without_its_path(sim: TelegramSimulator):
    sim.account.reads_all = True
    sim.account.webhook_url = "https://elsewhere.example/secret-path"
    found = (await check(sim)).findings[-1]
    assert (found.name, found.state) == ("webhook", "warning")
    assert "https://elsewhere.example" in found.detail
    assert "secret-path" not in found.detail
    assert sim.account.webhook_url  # a check changes nothing


async def test_a_refused_token_fails_without_being_shown(sim: TelegramSimulator):
    secret = "AAwrong-token-of-thirty-five-letters"
    checkup = await check(sim, token=f"{sim.bot_id}:{secret}")
    assert states(checkup) == {"token": "failed"}
    assert secret not in repr(checkup)


async def test_a_telegram_that_cannot_be_reached_is_named_with_its_address(sim: TelegramSimulator):
    checkup = await check(sim, api_base="http://127.0.0.1:9")
    assert states(checkup) == {"token": "failed"}
    assert "http://127.0.0.1:9" in checkup.findings[0].detail


async def test_a_check_beside_a_poll_takes_nothing_from_it(sim: TelegramSimulator):
    ada = sim.add_user(name="Ada")
    sim.say(ada, "mine")
    await check(sim)
    assert not sim.calls("getUpdates")
    assert len(sim.account.updates.pending) == 1


async def test_a_menu_that_is_not_ours_is_a_warning(sim: TelegramSimulator):
    sim.account.commands.clear()
    assert states(await check(sim))["commands"] == "warning"
