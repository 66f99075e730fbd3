"""Slack on stage: the simulator, through the real client libraries, by socket and by HTTP."""

from typing import Self

from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from gateway.adapter import Adapter
from gateway.messages import Target

from ...simulators.slack import Channel, Message, SlackSimulator
from .base import Ability, Place, free_port


class SlackStage:
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
        self.sim = SlackSimulator()
        self._expects_refusal = False

    async def __aenter__(self) -> Self:
        await self.sim.__aenter__()
        self.user = self.sim.add_user(name="Ada")
        self.group = self.sim.add_channel("friends", [self.user])
        self.root = self.sim.say(self.group, "what is below me is a thread")
        self.sim.deliveries.open.clear()  # it was said before there was a bot
        self.adapter: Adapter = self.make(self.sim.token)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.sim.__aexit__(None, None, None)
        assert self._expects_refusal or not self.sim.refusals, self.sim.describe()
        assert not self.sim.violations
        assert not self.sim.pings

    def make(self, token: str) -> SlackAdapter:
        return SlackAdapter(
            SlackSettings(bot_token=token, app_token=self.sim.app_token, api_base=self.sim.api_url)
        )

    def say(self, text: str, place: Place = "dm", *, mention: bool = False, answer: bool = False) -> None:
        say = self.sim.mention if mention else self.sim.say
        thread = self._replies(place)[-1] if answer else self.root if place == "thread" else None
        self._said = say(self._channel(place), text, user=self.user, thread=thread)

    def send_file(self, name: str, data: bytes, text: str) -> None:
        self.sim.say(self._channel("dm"), text, user=self.user, file=(name, data))

    def edit(self, text: str) -> None:
        self.sim.edit(self._said, text)

    def delete(self) -> None:
        self.sim.delete(self._said)

    def reactions(self) -> list[str]:
        return list(self._said.reactions)

    def press(self, label: str) -> None:
        self.sim.press(self._replies("dm")[-1], label)

    async def wait_told(self) -> str:
        told = await self.sim.wait_for(lambda: self.sim.ephemerals(self.user, self.user))
        return told[-1].text

    def target(self, place: Place) -> Target:
        return Target(
            platform="slack",
            account=self.sim.bot_id,
            chat_id=self._channel(place).id,
            thread_id=self.root.ts if place == "thread" else None,
        )

    def shown(self, place: Place = "dm") -> list[str]:
        return [message.shown for message in self._replies(place)]

    def files(self, place: Place = "dm") -> list[tuple[str, bytes, str]]:
        return [
            (file.name, file.content, message.shown)
            for message in self._replies(place)
            for file in message.files
        ]

    def buttons(self) -> list[str]:
        return [button["text"]["text"] for button in self._replies("dm")[-1].buttons]

    def limit_rate(self, retry_after_s: float) -> None:
        self.sim.flood(retry_after_s=retry_after_s)

    def close_chat(self) -> None:
        self._expects_refusal = True
        self.sim.people.bar(self._channel("dm"))

    def lose_answer(self, *, file: bool = False) -> None:
        self.sim.lose_answer(method="files.completeUploadExternal") if file else self.sim.lose_answer()

    def expect_refusal(self) -> None:
        self._expects_refusal = True

    async def break_connection(self) -> None:
        self.sim.cut_sockets()

    def with_bad_account(self) -> tuple[Adapter, str]:
        self._expects_refusal = True
        token = f"{self.sim.token}-wrong"
        return self.make(token), token

    def _channel(self, place: Place) -> Channel:
        return self.sim.channel(self.user) if place == "dm" else self.group

    def _replies(self, place: Place) -> list[Message]:
        replies = self.sim.replies(self._channel(place))
        return [one for one in replies if (one.thread_ts == self.root.ts) == (place == "thread")]


class SlackHttpStage(SlackStage):
    """The same with requests that Slack makes: it has no connection of its own that could break."""

    abilities = SlackStage.abilities - {"connection"}

    def __init__(self) -> None:
        super().__init__()
        self._port = free_port()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.sim.deliveries.retry_delays_s = (0.05,) * 100  # until the adapter listens again
        await self.sim.use_http(f"http://127.0.0.1:{self._port}/slack/events", verify=False)
        return self

    def make(self, token: str) -> SlackAdapter:
        return SlackAdapter(
            SlackSettings(
                bot_token=token,
                signing_secret=self.sim.account.signing_secret,
                mode="http",
                http_port=self._port,
                api_base=self.sim.api_url,
            )
        )
