"""A platform's people and places for tests that ask the same of every real adapter: who they are, what they can do.

A street stands on a stage of the contract suite: a simulator, and the adapter with the vendor's library before it.
"""

from typing import Any

from tests.contract.stages.discord import DiscordStage
from tests.contract.stages.slack import SlackHttpStage, SlackStage
from tests.contract.stages.telegram import TelegramStage, TelegramWebhookStage
from tests.simulators.discord.validate import visible

ROLES = ("user", "other", "approver", "admin", "stranger")
"""Everybody but the bot; each is one person on each platform."""


class Street:
    """People by role, a bot of somebody else's (None where the platform keeps bots apart), and two groups."""

    platform: str

    def __init__(self, stage: Any) -> None:
        self.stage = stage
        self.sim: Any = stage.sim
        self.people: dict[str, Any] = {role: self.sim.add_user(name=role.title()) for role in ROLES}
        self.bot: Any = None
        self.listed, self.unlisted = self._make_groups()

    def _make_groups(self) -> tuple[Any, Any]:
        raise NotImplementedError

    @property
    def access(self) -> dict[str, Any]:
        """Allow-lists in which these people have their roles."""
        ids = {role: str(person.id) for role, person in self.people.items()}
        return {
            "allow": {self.platform: [ids["user"], ids["other"], f"chat:{self.listed.id}"]},
            "admins": {self.platform: [ids["admin"]]},
            "pairing": False,
        }

    def who(self, role: str) -> str:
        """platform:user"""
        return f"{self.platform}:{self.people[role].id}"

    def direct(self, role: str, text: str) -> Any:
        return self.sim.say(self.people[role], text)

    def mention(self, role: str, group: Any, text: str) -> Any:
        return self.sim.say(group, f"{self._name()} {text}", user=self._speaker(role))

    def in_thread(self, role: str, text: str) -> Any:
        """Name the bot in a thread of the listed group (on Telegram a topic of a listed forum)."""
        raise NotImplementedError

    def all_shown(self, where: Any) -> str:
        """All that bots have shown there, now."""
        return "\n".join(self.shown(message) for message in self.sim.replies(where))

    def bot_speaks(self, text: str) -> int:
        """The other bot names ours in the listed group; how many updates that is."""
        if self.bot is None:
            return 0
        self.mention("bot", self.listed, text)
        return 1

    def reply(self, role: str, message: Any, group: Any, text: str) -> Any:
        return self.sim.say(group, text, user=self._speaker(role), reply_to=message)

    def forward(self, role: str, message: Any) -> None:
        """Pass somebody's message on to the bot: where it is not marked, it is the forwarder's own message."""
        self.direct(role, message.text)

    def order(self, role: str, name: str, argument: str = "") -> None:
        """Give a command in one's own chat with the bot."""
        self.direct(role, f"/{name} {argument}".strip())

    def press(self, role: str, message: Any, label: str) -> None:
        self.sim.press(message, label, user=self.people[role])

    def buttons(self, message: Any) -> list[str]:
        raise NotImplementedError

    def shown(self, message: Any) -> str:
        return str(message.text)

    def cards(self, where: Any) -> list[Any]:
        """The bot's messages there that have buttons now."""
        return [message for message in self.sim.replies(where) if self.buttons(message)]

    def _name(self) -> str:
        raise NotImplementedError

    def _speaker(self, role: str) -> Any:
        return self.bot if role == "bot" else self.people[role]


class TelegramStreet(Street):
    """Bots never see what other bots write there (Bot FAQ, "Why doesn't my bot see messages from other bots?")."""

    platform = "telegram"

    def _make_groups(self) -> tuple[Any, Any]:
        everybody = list(self.people.values())
        self._forum = self.sim.add_forum("Listed forum", everybody)
        self.sim.add_topic(self._forum, "first")
        self._topic = self.sim.add_topic(self._forum, "second")
        return self.sim.add_supergroup("Listed", everybody), self.sim.add_supergroup("Other", everybody)

    @property
    def access(self) -> dict[str, Any]:
        access = super().access
        access["allow"]["telegram"].append(f"chat:{self._forum.id}")
        return access

    def in_thread(self, role: str, text: str) -> Any:
        words, speaker = f"{self._name()} {text}", self._speaker(role)
        return self.sim.say(self._forum, words, user=speaker, thread=self._topic.id)

    def buttons(self, message: Any) -> list[str]:
        return [button.text for row in message.buttons for button in row]

    def _name(self) -> str:
        return f"@{self.sim.account.user.username}"


class DiscordStreet(Street):
    platform = "discord"

    def _make_groups(self) -> tuple[Any, Any]:
        self.bot = self.sim.people.add_user(None, "Another Bot", is_bot=True)
        guild = self.sim.add_guild("Server", [*self.people.values(), self.bot])
        listed = self.sim.add_channel(guild, "listed")
        self._thread = self.sim.add_thread(listed, "aside")
        return listed, self.sim.add_channel(guild, "other")

    def in_thread(self, role: str, text: str) -> Any:
        return self.mention(role, self._thread, text)

    def forward(self, role: str, message: Any) -> None:
        self.sim.say(self.people[role], "", forward=message)

    def order(self, role: str, name: str, argument: str = "") -> None:
        options = {"argument": argument} if argument else {}
        self.sim.command(self.people[role], name, user=self.people[role], **options)

    def buttons(self, message: Any) -> list[str]:
        return [button.label for row in message.rows for button in row]

    def shown(self, message: Any) -> str:
        return visible(message.text)

    def _name(self) -> str:
        return f"<@{self.sim.bot_id}>"


class SlackStreet(Street):
    platform = "slack"

    def _make_groups(self) -> tuple[Any, Any]:
        self.bot = self.sim.add_bot("Another Bot", "another").user
        everybody = [*self.people.values(), self.bot]
        listed = self.sim.add_channel("listed", everybody)
        self._root = self.sim.say(listed, "below me is a thread")
        self.sim.deliveries.open.clear()  # it was said before there was a bot
        return listed, self.sim.add_channel("other", everybody)

    def in_thread(self, role: str, text: str) -> Any:
        return self.sim.mention(self.listed, text, user=self._speaker(role), thread=self._root)

    def mention(self, role: str, group: Any, text: str) -> Any:
        return self.sim.mention(group, text, user=self._speaker(role))

    def bot_speaks(self, text: str) -> int:
        spoken = super().bot_speaks(text)
        self.sim.pings.clear()  # it meant to
        return spoken

    def reply(self, role: str, message: Any, group: Any, text: str) -> Any:
        return self.sim.say(group, text, user=self._speaker(role), thread=message)

    def order(self, role: str, name: str, argument: str = "") -> None:
        self.sim.command(self.people[role], f"{name} {argument}".strip(), user=self.people[role])

    def buttons(self, message: Any) -> list[str]:
        return [button["text"]["text"] for button in message.buttons]

    def shown(self, message: Any) -> str:
        return str(message.shown or message.text)

    def _name(self) -> str:
        return f"<@{self.sim.bot_id}>"


STREETS: dict[str, tuple[type[Street], Any]] = {
    "telegram": (TelegramStreet, TelegramStage),
    "telegram_webhook": (TelegramStreet, TelegramWebhookStage),
    "discord": (DiscordStreet, DiscordStage),
    "slack": (SlackStreet, SlackStage),
    "slack_http": (SlackStreet, SlackHttpStage),
}
