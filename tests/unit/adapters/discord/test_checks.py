"""What the doctor hears of a Discord bot, asked of the simulator through the real library."""

import pytest

from adapters.commands import COMMANDS
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.commands import to_payload
from adapters.discord.settings import DiscordSettings
from gateway.adapter import Checkup
from tests.simulators.discord import DiscordSimulator

pytestmark = pytest.mark.req("OPS-7", "ADP-3")


async def check(sim: DiscordSimulator, **settings: object) -> Checkup:
    given = {"token": sim.token, "api_base": sim.api_base} | settings
    return await DiscordAdapter(DiscordSettings(**given)).check()


def states(checkup: Checkup) -> dict[str, str]:
    return {finding.name: finding.state for finding in checkup.findings}


async def test_a_bot_with_its_intent_and_its_commands_has_nothing_to_mend():
    async with DiscordSimulator() as sim:
        sim.account.commands = [to_payload(command) for command in COMMANDS]
        checkup = await check(sim)
        assert states(checkup) == {"token": "ok", "message content intent": "ok", "commands": "ok"}
        assert checkup.server_date
        assert sim.gateway.identified_times == 0  # no session began


async def test_a_missing_intent_fails_and_commands_that_are_not_there_are_named():
    async with DiscordSimulator() as sim:
        sim.account.privileged.clear()
        checkup = await check(sim)
        assert states(checkup) == {"token": "ok", "message content intent": "failed", "commands": "warning"}
        assert "Privileged Gateway Intents" in checkup.findings[1].fix
        assert "/help" in checkup.findings[2].detail


async def test_a_refused_token_fails_without_being_shown():
    async with DiscordSimulator() as sim:
        secret = "wrong0.secret-of-twenty-seven-letters"
        checkup = await check(sim, token=f"{sim.token.partition('.')[0]}.{secret}")
        assert states(checkup) == {"token": "failed"}
        assert secret not in repr(checkup)


@pytest.mark.parametrize("settings", [{"token": "nonsense"}, {"api_base": "http://127.0.0.1:9/api/v10"}])
async def test_a_token_that_is_none_and_a_discord_out_of_reach_are_findings(settings: dict[str, str]):
    async with DiscordSimulator() as sim:
        assert states(await check(sim, **settings)) == {"token": "failed"}
