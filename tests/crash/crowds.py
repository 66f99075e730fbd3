"""Many people in direct chats with one daemon, on each platform's simulator: what the random kills need of it."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

from tests.crash.places import discord_env, slack_env, telegram_env
from tests.simulators.discord import DiscordSimulator
from tests.simulators.slack import SlackSimulator
from tests.simulators.telegram import TelegramSimulator

ONCE = "Once"
LOOK_BACK = 12
"""Cards are among the newest messages: nobody goes on before the last answers are there."""


class Crowd(Protocol):
    """See the module. `key`: the platform's name in the database; `sim`: its simulator, to be entered."""

    name: ClassVar[str]
    key: ClassVar[str]
    send_method: ClassVar[str]
    sim: Any

    def env(self) -> Mapping[str, str]:
        """What the daemon has to be told."""
        ...

    def add_person(self, number: int) -> Any:
        """One more person; numbers from 0."""
        ...

    def open_cards(self, person: Any) -> Iterator[tuple[str, Any]]:
        """Messages that show a button Once, each with what tells this button from all others."""
        ...


class TelegramCrowd:
    """`Crowd` on Telegram."""

    name, key, send_method = "Telegram", "telegram", "sendMessage"

    def __init__(self) -> None:
        self.sim = TelegramSimulator()

    def env(self) -> Mapping[str, str]:
        return telegram_env(self.sim)

    def add_person(self, number: int) -> Any:
        return self.sim.add_user(5_000 + number, name=f"Ann {number}")

    def open_cards(self, person: Any) -> Iterator[tuple[str, Any]]:
        for message in self.sim.replies(person)[-LOOK_BACK:]:
            for button in (button for line in message.buttons or () for button in line):
                if button.text == ONCE:
                    yield str(button.callback_data), message


class DiscordCrowd:
    """`Crowd` on Discord."""

    name, key, send_method = "Discord", "discord", "createMessage"

    def __init__(self) -> None:
        self.sim = DiscordSimulator()

    def env(self) -> Mapping[str, str]:
        return discord_env(self.sim)

    def add_person(self, number: int) -> Any:
        return self.sim.add_user(name=f"Bob {number}")

    def open_cards(self, person: Any) -> Iterator[tuple[str, Any]]:
        for message in self.sim.replies(person)[-LOOK_BACK:]:
            for button in (button for row in message.rows for button in row):
                if button.label == ONCE:
                    yield str(button.custom_id), message


class SlackCrowd:
    """`Crowd` on Slack."""

    name, key, send_method = "Slack", "slack", "chat.postMessage"

    def __init__(self) -> None:
        self.sim = SlackSimulator()

    def env(self) -> Mapping[str, str]:
        return slack_env(self.sim)

    def add_person(self, number: int) -> Any:
        return self.sim.add_user(name=f"Cat {number}")

    def open_cards(self, person: Any) -> Iterator[tuple[str, Any]]:
        for message in self.sim.replies(person)[-LOOK_BACK:]:
            for button in message.buttons:
                if button["text"]["text"] == ONCE:
                    yield str(button.get("value") or button["action_id"]), message


CROWDS: tuple[type[Crowd], ...] = (TelegramCrowd, DiscordCrowd, SlackCrowd)
