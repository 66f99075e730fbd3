"""Outages, one platform at a time, with all three on one daemon: it comes back by itself, the others notice nothing.

What people say while it lasts is answered once, in order, and the simulators count. The waits are made short (poll,
ping and silence of a second, reconnects at once); how long they are in operation is in docs/behaviour.md.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tenacity import wait_fixed

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House
from tests.simulators.discord import DiscordSimulator
from tests.simulators.faults import Drop, Hold, Refuse
from tests.simulators.slack import SlackSimulator
from tests.simulators.telegram import TelegramSimulator

pytestmark = [pytest.mark.req("OPS-5", "DLV-1", "DLV-6"), pytest.mark.timeout(120)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One person in a direct chat on one platform."""

    sim: Any
    person: Any
    connects: Callable[[], int]
    """How often the adapter has connected anew so far."""

    def says(self, text: str) -> None:
        self.sim.say(self.person, text)

    def answers(self) -> list[str]:
        """The first line of each answer, in the order shown."""
        return [(one.shown if hasattr(one, "shown") else one.text).split("\n")[0] for one in self._replies()]

    async def hears(self, *answers: str) -> None:
        try:
            await self.sim.wait_for(lambda: self.answers() == list(answers), WAIT_S * 2)
        except TimeoutError:
            raise AssertionError(f"{answers} never came; shown are {self.answers()}") from None

    def _replies(self) -> list[Any]:
        found: list[Any] = self.sim.replies(self.person)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    telegram: TelegramSimulator
    discord: DiscordSimulator
    slack: SlackSimulator
    talks: dict[str, Talk]
    house: House


@pytest.fixture
async def world(house_of: Open, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr("adapters.slack.adapter.SEND_GAP_S", 0.0)
    monkeypatch.setattr("gateway.delivery.outcomes.BACKOFF", wait_fixed(0.05))
    async with TelegramSimulator() as telegram, DiscordSimulator() as discord, SlackSimulator() as slack:
        discord.gateway.heartbeat_interval_s = 0.2
        talks = {
            "telegram": Talk(
                sim=telegram,
                person=telegram.add_user(name="Ada"),
                connects=lambda: len(telegram.calls("getMe")),
            ),
            "discord": Talk(
                sim=discord,
                person=discord.add_user(name="Ada"),
                connects=lambda: (
                    discord.gateway.identified_times
                    + sum(session.resumed_times for session in discord.world.sessions.values())
                ),
            ),
            "slack": Talk(
                sim=slack,
                person=slack.add_user(name="Ada"),
                connects=lambda: len(slack.calls("apps.connections.open")),
            ),
        }
        house = await house_of(
            others=(
                TelegramAdapter(
                    TelegramSettings(
                        token=telegram.token, api_base=telegram.url, poll_timeout_s=1, poll_margin_s=1
                    )
                ),
                DiscordAdapter(
                    DiscordSettings(
                        token=discord.token,
                        api_base=discord.api_base,
                        gateway_url=discord.gateway_url,
                        silence_s=3,
                        streaming=False,
                    )
                ),
                SlackAdapter(
                    SlackSettings(
                        bot_token=slack.token,
                        app_token=slack.app_token,
                        api_base=slack.api_url,
                        ping_interval_s=1,
                    )
                ),
            ),
            access={"allow": {name: ["*"] for name in talks}},
        )
        for talk in talks.values():
            await talk.sim.wait_for(talk.connects)
        yield World(telegram=telegram, discord=discord, slack=slack, talks=talks, house=house)
        await house.crash()


def network_of_telegram(world: World) -> None:
    for method, times in (("getUpdates", 4), ("getMe", 2)):
        world.telegram.fail(Drop(), method=method, times=times)


def storm_of_telegram(world: World) -> None:
    # An answer that meets this one is of unknown outcome there: see tests/flow/test_delivery.py.
    for method, times in (("getUpdates", 4), ("getMe", 2)):
        world.telegram.fail(Refuse(status=502, text="Bad Gateway"), method=method, times=times)


def conflict(world: World) -> None:
    world.telegram.conflict(times=4)


def stall_of_telegram(world: World) -> None:
    world.telegram.fail(Hold(), method="getUpdates")


def network_of_discord(world: World) -> None:
    world.discord.fail(Drop(), method="createMessage", times=3)
    world.discord.gateway.refused_handshakes = 2
    world.discord.gateway.interrupt()


def refused_resume(world: World) -> None:
    world.discord.gateway.refused_handshakes = 1
    world.discord.gateway.refused_resumes = 1
    world.discord.gateway.interrupt()


def storm_of_discord(world: World) -> None:
    world.discord.fail(Refuse(status=503), method="createMessage", times=6)


def stall_of_discord(world: World) -> None:
    world.discord.gateway.stall()


def network_of_slack(world: World) -> None:
    world.slack.fail(Drop(), method="chat.postMessage", times=3)
    world.slack.fail(Drop(), method="apps.connections.open", times=2)
    world.slack.cut_sockets()


def warning(world: World) -> None:
    world.slack.disconnect("warning")


def storm_of_slack(world: World) -> None:
    world.slack.fail(Refuse(status=503), method="chat.postMessage", times=6)
    world.slack.fail(Refuse(status=503), method="apps.connections.open", times=3)
    world.slack.cut_sockets()


def stall_of_slack(world: World) -> None:
    world.slack.sockets.answers_pings = False
    world.slack.disconnect("refresh_requested")  # the next socket is the one that falls silent


OUTAGES: dict[str, tuple[Callable[[World], None], ...]] = {
    "telegram": (network_of_telegram, storm_of_telegram, conflict, stall_of_telegram),
    "discord": (network_of_discord, refused_resume, storm_of_discord, stall_of_discord),
    "slack": (network_of_slack, warning, storm_of_slack, stall_of_slack),
}


@pytest.mark.parametrize(
    ("platform", "outage"),
    [pytest.param(name, outage, id=outage.__name__) for name, many in OUTAGES.items() for outage in many],
)
async def test_it_is_answering_again_by_itself_and_nobody_else_notices(
    world: World, platform: str, outage: Callable[[World], None]
) -> None:
    ill, others = world.talks[platform], [talk for name, talk in world.talks.items() if name != platform]
    ill.says("before")
    await ill.hears("You said: before")
    untouched = [talk.connects() for talk in others]

    outage(world)
    ill.says("meanwhile")
    for talk in others:
        talk.says("plum")
        await talk.hears("You said: plum")
    if outage is stall_of_slack:
        await ill.sim.wait_for(lambda: world.slack.sockets.opened == 2, WAIT_S)
        world.slack.sockets.answers_pings = True
        await ill.sim.wait_for(lambda: world.slack.sockets.opened == 3, WAIT_S)
    await ill.hears("You said: before", "You said: meanwhile")
    ill.says("after")
    await ill.hears("You said: before", "You said: meanwhile", "You said: after")
    await world.house.quiet()

    assert [talk.connects() for talk in others] == untouched
    assert await world.house.values("SELECT COUNT(*) FROM turns WHERE state = 'done'") == [5]
    assert await world.house.values("SELECT DISTINCT state FROM outbox") == ["sent"]
