"""Discord on stage: the simulator, through the real client library."""

from typing import Self

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from gateway.adapter import Adapter
from gateway.messages import Target

from ...simulators.discord import Channel, DiscordSimulator, Message
from ...simulators.discord.validate import visible
from .base import Ability, Place


class DiscordStage:
    abilities: frozenset[Ability] = frozenset(
        {
            "groups",
            "threads",
            "replies",
            "edits_by_people",
            "deletes_by_people",
            "reactions",
            "edits",
            "rate_limit",
            "gone_chat",
            "lost_answer",
            "account",
            "connection",
            "redelivery",
            "files",
            "files_by_people",
            "push_back",
        }
    )

    def __init__(self) -> None:
        self.sim = DiscordSimulator()
        self._expects_refusal = False

    async def __aenter__(self) -> Self:
        await self.sim.__aenter__()
        self.user = self.sim.add_user(name="Ada")
        self.guild = self.sim.add_guild("Friends", [self.user])
        self.group = next(iter(self.guild.channels.values()))
        self.thread = self.sim.add_thread(self.group, "aside")
        self.adapter = self.make(self.sim.token)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.sim.__aexit__(None, None, None)
        assert self._expects_refusal or not self.sim.refusals, self.sim.describe()
        assert not self.sim.violations

    def make(self, token: str) -> DiscordAdapter:
        return DiscordAdapter(DiscordSettings(token=token, api_base=self.sim.api_base))

    def say(self, text: str, place: Place = "dm", *, mention: bool = False, answer: bool = False) -> None:
        name = f"<@{self.sim.bot_id}> " if mention else ""
        self._said = self.sim.say(
            self._channel(place),
            name + text,
            user=self.user,
            reply_to=self._replies(place)[-1] if answer else None,
        )

    def send_file(self, name: str, data: bytes, text: str) -> None:
        self.sim.say(self._channel("dm"), text, user=self.user, file=(name, "text/plain", data))

    def edit(self, text: str) -> None:
        self.sim.edit(self._said, text)

    def delete(self) -> None:
        self.sim.delete(self._said)

    def reactions(self) -> list[str]:
        return list(self._said.reactions)

    def press(self, label: str) -> None:
        self._pressed = self.sim.press(self._replies("dm")[-1], label)

    async def wait_told(self) -> str:
        return (await self.sim.wait_for(lambda: self._pressed.told))[-1]

    def target(self, place: Place) -> Target:
        return Target(
            platform="discord",
            account=str(self.sim.bot_id),
            chat_id=str(self.group.id if place == "thread" else self._channel(place).id),
            thread_id=str(self.thread.id) if place == "thread" else None,
        )

    def shown(self, place: Place = "dm") -> list[str]:
        return [visible(message.text) for message in self._replies(place)]

    def files(self, place: Place = "dm") -> list[tuple[str, bytes, str]]:
        return [
            (file.name, file.content, visible(message.text) if message.text else "")
            for message in self._replies(place)
            for file in message.files
        ]

    def buttons(self) -> list[str]:
        return [button.label for row in self._replies("dm")[-1].rows for button in row]

    def limit_rate(self, retry_after_s: float) -> None:
        self.sim.flood(retry_after_s=retry_after_s)

    def close_chat(self) -> None:
        self._expects_refusal = True
        self._channel("dm").is_blocked = True

    def lose_answer(self, *, file: bool = False) -> None:
        self.sim.lose_answer()

    def expect_refusal(self) -> None:
        self._expects_refusal = True

    async def break_connection(self) -> None:
        self.sim.gateway.refused_handshakes = 1  # the first try to resume fails, which ends the run
        self.sim.gateway.interrupt()

    def with_bad_account(self) -> tuple[Adapter, str]:
        self._expects_refusal = True
        head = self.sim.token.partition(".")[0]
        secret = "wrong0.secret-of-twenty-seven-letters"
        return self.make(f"{head}.{secret}"), secret

    def _channel(self, place: Place) -> Channel:
        match place:
            case "dm":
                return self.sim.channel(self.user)
            case "group":
                return self.group
            case "thread":
                return self.thread

    def _replies(self, place: Place) -> list[Message]:
        return self.sim.replies(self._channel(place))
