"""Telegram on stage: the simulator, through the real client library."""

from typing import Self

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from gateway.adapter import Adapter
from gateway.messages import Target

from ...simulators.telegram import Chat, Message, TelegramSimulator
from .base import Ability, Place, free_port


class TelegramStage:
    abilities: frozenset[Ability] = frozenset(
        {
            "groups",
            "threads",
            "replies",
            "edits_by_people",
            "reactions",
            "drafts",
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
        self.sim = TelegramSimulator()
        self._expects_refusal = False

    async def __aenter__(self) -> Self:
        await self.sim.__aenter__()
        self.user = self.sim.add_user(name="Ada")
        self.group = self.sim.add_supergroup("Friends", [self.user])
        self.forum = self.sim.add_forum("Forum", [self.user])
        self.sim.add_topic(self.forum, "first")  # a topic's id is its message's, and 1 is the General topic's
        self.topic = self.sim.add_topic(self.forum, "second")
        self.adapter = self.make(self.sim.token)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.sim.__aexit__(None, None, None)
        assert self._expects_refusal or not self.sim.refusals, self.sim.describe()
        assert not self.sim.violations

    def make(self, token: str) -> TelegramAdapter:
        return TelegramAdapter(TelegramSettings(token=token, api_base=self.sim.url, poll_timeout_s=5))

    def say(self, text: str, place: Place = "dm", *, mention: bool = False, answer: bool = False) -> None:
        name = f"@{self.sim.account.user.username} " if mention else ""
        self._said = self.sim.say(
            self._chat(place),
            name + text,
            user=self.user,
            thread=self.topic.id if place == "thread" else None,
            reply_to=self._replies(place)[-1] if answer else None,
        )

    def send_file(self, name: str, data: bytes, text: str) -> None:
        self.sim.say(self._chat("dm"), text, user=self.user, file=("document", name, data))

    def edit(self, text: str) -> None:
        self.sim.edit(self._said, text)

    def reactions(self) -> list[str]:
        return list(self._said.reactions)

    def drafts(self) -> list[str]:
        return [draft.text for draft in self._chat("dm").drafts]

    def press(self, label: str) -> None:
        self._pressed = self.sim.press(self._replies("dm")[-1], label)

    async def wait_told(self) -> str:
        answer = await self.sim.wait_for(lambda: self._pressed.answer)
        return str(answer["text"])

    def target(self, place: Place) -> Target:
        return Target(
            platform="telegram",
            account=str(self.sim.bot_id),
            chat_id=str(self._chat(place).id),
            thread_id=str(self.topic.id) if place == "thread" else None,
        )

    def shown(self, place: Place = "dm") -> list[str]:
        return [message.text for message in self._replies(place)]

    def files(self, place: Place = "dm") -> list[tuple[str, bytes, str]]:
        return [
            (message.file.name, message.file.content, message.text)
            for message in self._replies(place)
            if message.file is not None
        ]

    def buttons(self) -> list[str]:
        return [button.text for row in self._replies("dm")[-1].buttons for button in row]

    def limit_rate(self, retry_after_s: float) -> None:
        self.sim.flood(retry_after_s=retry_after_s)

    def close_chat(self) -> None:
        self._expects_refusal = True
        self.sim.people.bar(self._chat("dm"))

    def lose_answer(self, *, file: bool = False) -> None:
        self.sim.lose_answer(method="sendDocument") if file else self.sim.lose_answer()

    def expect_refusal(self) -> None:
        self._expects_refusal = True

    async def break_connection(self) -> None:
        await self.sim.interrupt()

    def with_bad_account(self) -> tuple[Adapter, str]:
        self._expects_refusal = True
        token = f"{self.sim.bot_id}:wrong-token-of-thirty-five-characters"
        return self.make(token), token.partition(":")[2]

    def _chat(self, place: Place) -> Chat:
        match place:
            case "dm":
                return self.sim.chat(self.user)
            case "group":
                return self.group
            case "thread":
                return self.forum

    def _replies(self, place: Place) -> list[Message]:
        return [
            message
            for message in self.sim.replies(self._chat(place))
            if place != "thread" or message.thread == self.topic.id
        ]


class TelegramWebhookStage(TelegramStage):
    """The same with posts that Telegram makes: it has no connection of its own that could break."""

    abilities = TelegramStage.abilities - {"connection"}

    def __init__(self) -> None:
        super().__init__()
        self._port = free_port()

    def make(self, token: str) -> TelegramAdapter:
        return TelegramAdapter(
            TelegramSettings(
                token=token,
                api_base=self.sim.url,
                mode="webhook",
                http_port=self._port,
                webhook_url=f"http://127.0.0.1:{self._port}/telegram",
            )
        )
