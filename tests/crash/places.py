"""One person in a direct chat with the real daemon, on each platform's simulator: what the named points need of it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from tests.simulators.discord import DiscordSimulator
from tests.simulators.faults import Hold
from tests.simulators.slack import SlackSimulator
from tests.simulators.telegram import TelegramSimulator

SLOW_S = 90.0


class Place(Protocol):
    """See the module; `sim` is the platform's simulator."""

    sim: Any
    person: Any
    env: Mapping[str, str]
    send_method: str

    def press(self, label: str) -> None:
        """Press a button of the newest card."""
        ...


def telegram_env(sim: TelegramSimulator) -> dict[str, str]:
    """What the daemon has to be told to be on this Telegram."""
    return {
        "PARLEY_TELEGRAM__TOKEN": sim.token,
        "PARLEY_TELEGRAM__API_BASE": sim.url,
        "PARLEY_ACCESS__ALLOW__TELEGRAM": "*",
    }


def discord_env(sim: DiscordSimulator) -> dict[str, str]:
    """The same for Discord."""
    return {
        "PARLEY_DISCORD__TOKEN": sim.token,
        "PARLEY_DISCORD__API_BASE": sim.api_base,
        "PARLEY_DISCORD__GATEWAY_URL": sim.gateway_url,
        "PARLEY_ACCESS__ALLOW__DISCORD": "*",
    }


def slack_env(sim: SlackSimulator) -> dict[str, str]:
    """The same for Slack."""
    return {
        "PARLEY_SLACK__BOT_TOKEN": sim.token,
        "PARLEY_SLACK__APP_TOKEN": sim.app_token,
        "PARLEY_SLACK__API_BASE": sim.api_url,
        "PARLEY_ACCESS__ALLOW__SLACK": "*",
    }


class _Telegram:
    send_method = "sendMessage"

    def __init__(self, sim: TelegramSimulator) -> None:
        self.sim = sim
        self.person = sim.add_user(111, name="Ada")
        self.env = telegram_env(sim)

    def press(self, label: str) -> None:
        self.sim.press(next(m for m in reversed(self.sim.replies(self.person)) if m.buttons), label)


class _Discord:
    send_method = "createMessage"

    def __init__(self, sim: DiscordSimulator) -> None:
        self.sim = sim
        self.person = sim.add_user(name="Ada")
        self.env = discord_env(sim)

    def press(self, label: str) -> None:
        self.sim.press(next(m for m in reversed(self.sim.replies(self.person)) if m.components), label)


class _Slack:
    send_method = "chat.postMessage"

    def __init__(self, sim: SlackSimulator) -> None:
        self.sim = sim
        self.person = sim.add_user(name="Ada")
        self.env = slack_env(sim)

    def press(self, label: str) -> None:
        self.sim.press(self.sim.replies(self.person)[-1], label)


PLATFORMS: dict[str, tuple[type[Any], type[Any]]] = {
    "Telegram": (TelegramSimulator, _Telegram),
    "Discord": (DiscordSimulator, _Discord),
    "Slack": (SlackSimulator, _Slack),
}


@asynccontextmanager
async def place_on(platform: str) -> AsyncIterator[Place]:
    """A platform with one person on it."""
    simulator, place = PLATFORMS[platform]
    async with simulator() as sim:
        yield place(sim)


def texts(place: Place) -> list[str]:
    """What the bot shows in the chat now."""
    return [message.text or "" for message in place.sim.replies(place.person)]


async def sees(place: Place, words: str, times: int = 1) -> None:
    """Wait until so many messages hold these words."""
    await place.sim.wait_for(lambda: sum(words in text for text in texts(place)) >= times, SLOW_S)


async def held_request(place: Place, method: str, *, applied: bool, name: str = "kill") -> None:
    """Hold the next request of this method, before or after its effect, and wait until one is held."""
    seen = len(place.sim.calls(method))
    place.sim.faults.add(Hold(name=name, applied=applied), method=method)

    def is_held() -> bool:
        return any(call.status is None for call in place.sim.calls(method)[seen:])

    await place.sim.wait_for(is_held, SLOW_S)
