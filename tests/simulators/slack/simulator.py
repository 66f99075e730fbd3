"""The simulator as tests hold it: a running server, people to act as, and all that happened.

    async with SlackSimulator() as sim:
        ada = sim.add_user(name="Ada")
        app = AsyncApp(client=AsyncWebClient(token=sim.token, base_url=sim.api_url))
        await AsyncSocketModeHandler(app, sim.app_token).connect_async()
        sim.say(ada, "hello")
        ...
        await sim.wait_for_replies(ada, 1)
        assert sim.replies(ada)[0].shown == "hi"
        assert not sim.refusals and not sim.violations and not sim.pings

The same is offered over HTTP (`remote.py`). State is the simulator's own: it survives whatever the app does.
"""

from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from ..changes import Changes
from ..control import control_routes
from ..faults import Drop, Fault, FaultScript, Plan, Refuse
from ..recorder import Call, Recorder
from ..server import LoopbackServer, make_app
from .deliveries import Deliveries
from .endpoint import Endpoint
from .people import People, find_button
from .records import Channel, Command, Ephemeral, Message, Press, User
from .sockets import Reason, Sockets
from .webhooks import Webhook
from .world import TEAM, Account, World

T = TypeVar("T")
Where = Channel | User | str
WAIT_S = 10.0


class SlackSimulator:
    """A Slack of one's own on a loopback port. One app is installed from the start; `add_bot` makes more."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        from .remote import remote_actions

        self.changes = Changes()
        self.recorder = Recorder()
        self.faults = FaultScript()
        self.world = World(self.recorder, self.changes)
        self.people = People(self.world)
        self.sockets = Sockets(self.world)
        self.account = self.world.add_account("Parley", "parley")
        self._webhooks: list[Webhook] = []
        routes = [
            *Endpoint(self.world, self.faults).routes(),
            *self.sockets.routes(),
            *control_routes(remote_actions(self)),
        ]
        self._server = LoopbackServer(make_app(routes), host, port)

    async def __aenter__(self) -> Self:
        await self._server.start()
        self.world.url = self._server.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.faults.clear()
        for webhook in self._webhooks:
            await webhook.close()
        await self._server.stop()
        for account in self.world.accounts.values():
            account.deliveries.close()

    # Where it is, and whose it is.

    @property
    def url(self) -> str:
        """The server's address."""
        return self._server.url

    @property
    def api_url(self) -> str:
        """The Web API's address, as a client's `base_url`."""
        return self._server.url + "/api/"

    @property
    def token(self) -> str:
        """The first app's bot token."""
        return self.account.token

    @property
    def app_token(self) -> str:
        """The first app's app-level token."""
        return self.account.app_token

    @property
    def bot_id(self) -> str:
        """The first bot's user id."""
        return self.account.user.id

    @property
    def deliveries(self) -> Deliveries:
        """What is on its way to the first app; here are `ack_timeout_s`, `retry_delays_s` and `expire`."""
        return self.account.deliveries

    def add_bot(self, name: str, handle: str, team: str = TEAM) -> Account:
        """Install another app; it is in the channels made from now on and has direct chats of its own."""
        return self.world.add_account(name, handle, team)

    async def use_http(
        self, request_url: str, account: Account | None = None, *, verify: bool = True
    ) -> Webhook:
        """Deliver by HTTP from now on, after the address proved itself (unless `verify` is False).

        Raises:
            ValueError: It did not.
        """
        account = account or self.account
        account.request_url = request_url
        webhook = Webhook(self.world, account)
        self._webhooks.append(webhook)
        if verify:
            await webhook.verify()
        account.deliveries.joined(webhook)
        return webhook

    # What people do.

    def add_user(self, user_id: str | None = None, name: str = "", team: str = TEAM) -> User:
        """Make a person."""
        return self.people.add_user(user_id, name, team)

    def add_channel(
        self, name: str, members: list[User], channel_id: str | None = None, **more: Any
    ) -> Channel:
        """Make a channel with the bots in it; more as in `People.add_channel`."""
        return self.people.add_channel(name, members, channel_id=channel_id, **more)

    def say(self, where: Where, text: str, *, user: User | str | None = None, **details: Any) -> Message:
        """Post as a person: the first one there, unless `user` is given.

        Details are those of `People.say`: thread, raw, file, is_broadcast.
        """
        channel = self.channel(where)
        return self.people.say(channel, text, user=self._member(channel, user), **details)

    def mention(self, where: Where, text: str, *, user: User | str | None = None, **details: Any) -> Message:
        """Post with the first bot's name before the text."""
        return self.say(where, text, user=user, raw=f"<@{self.bot_id}> ", **details)

    def edit(self, message: Message, text: str, raw: str | None = None) -> None:
        """Edit a person's message."""
        self.people.edit(message, text, raw)

    def unfurl(self, message: Message) -> None:
        """Let Slack add a link's preview to a message: a change that nobody made."""
        self.people.unfurl(message)

    def delete(self, message: Message) -> None:
        """Delete a message."""
        self.people.delete(message)

    def press(self, message: Message, button: int | str, user: User | str | None = None) -> Press:
        """Press a shown button, by number or text."""
        return self.people.press(message, find_button(message, button), self._member(message.channel, user))

    def press_value(self, message: Message, value: str, user: User | str | None = None) -> Press:
        """Press by value, also a button that is shown no more (an old client does that)."""
        action: dict[str, object] = {"action_id": value, "value": value}
        return self.people.press(message, action, self._member(message.channel, user))

    def command(
        self, where: Where, text: str = "", *, name: str = "/parley", user: User | str | None = None
    ) -> Command:
        """Enter a slash command of the first app."""
        channel = self.channel(where)
        return self.people.command(self.account, channel, name, text, self._member(channel, user))

    # What goes wrong.

    def fail(
        self,
        fault: Fault,
        method: str | None = "chat.postMessage",
        where: Where | None = None,
        times: int = 1,
    ) -> Plan:
        """Let the next `times` requests of this method (None: any) to this place (None: any) meet a fault."""
        channel = None if where is None else self.channel(where).id
        return self.faults.add(fault, method=method, chat=channel, times=times)

    def refuse(
        self, error: str, method: str | None = "chat.postMessage", times: int = 1, **details: Any
    ) -> Plan:
        """Answer the next requests with an error of the Web API."""
        return self.fail(Refuse(status=200, text=error, parameters=details), method, None, times)

    def flood(
        self,
        where: Where | None = None,
        retry_after_s: float = 1,
        times: int = 1,
        method: str | None = "chat.postMessage",
    ) -> Plan:
        """Answer the next requests with 429."""
        return self.fail(Refuse(status=429, retry_after_s=retry_after_s), method, where, times)

    def lose_answer(
        self, where: Where | None = None, times: int = 1, method: str | None = "chat.postMessage"
    ) -> Plan:
        """Apply the next requests and cut the connection instead of answering."""
        return self.fail(Drop(applied=True), method, where, times)

    def disconnect(self, reason: Reason = "warning") -> None:
        """Announce to the first app that its sockets will be closed; `close_leaving` closes them."""
        self.sockets.disconnect(self.account, reason)

    def close_leaving(self) -> None:
        """Close the sockets of which `disconnect` told."""
        self.sockets.close_leaving(self.account)

    def cut_sockets(self) -> None:
        """Cut the first app's sockets, as a lost network does."""
        self.sockets.abort(self.account)

    async def interrupt(self, seconds_down: Callable[[], Any] | None = None) -> None:
        """Stop listening and listen again on the same port: every connection is lost, no state is."""
        await self._server.stop()
        if seconds_down is not None:
            await seconds_down()
        await self._server.start()

    # What happened.

    @property
    def refusals(self) -> Counter[str]:
        """How often each rule of the platform was broken and refused; scripted refusals do not count."""
        return self.recorder.refusals

    @property
    def violations(self) -> Counter[str]:
        """How often the platform would have repaired or ignored something without telling."""
        return self.recorder.violations

    @property
    def pings(self) -> Counter[str]:
        """Whom bots' messages would have notified: ids, and the words channel, here, everyone."""
        return self.world.pings

    def calls(self, method: str) -> list[Call]:
        """The requests for a method, oldest first."""
        return self.recorder.of(method)

    def channel(self, where: Where, account: Account | None = None) -> Channel:
        """The conversation meant: a person means the direct chat with the first bot, or with `account`."""
        if isinstance(where, Channel):
            return where
        name = where.id if isinstance(where, User) else where
        if name in self.world.users:
            return self.world.direct_channel(account or self.account, self.world.users[name])
        if name not in self.world.channels:
            raise LookupError(f"no channel {name}")
        return self.world.channels[name]

    def messages(self, where: Where, thread: Message | str | None = None) -> list[Message]:
        """All messages now shown in a conversation, threads included, or of one thread; oldest first."""
        root = thread.ts if isinstance(thread, Message) else thread
        return [
            message
            for message in self.channel(where).messages.values()
            if not message.is_deleted and (root is None or message.thread_ts == root)
        ]

    def replies(self, where: Where, thread: Message | str | None = None) -> list[Message]:
        """The messages of bots now shown there."""
        return [message for message in self.messages(where, thread) if message.user.is_bot]

    def ephemerals(self, where: Where, user: User | None = None) -> list[Ephemeral]:
        """What was shown to one person alone."""
        shown = self.channel(where).ephemerals
        return [one for one in shown if user is None or one.user == user.id]

    async def wait_for(self, predicate: Callable[[], T], timeout_s: float = WAIT_S) -> T:
        """Wait until the predicate is truthy and return its value.

        Looked at after each request and each doing.
        """
        return await self.changes.until(predicate, timeout_s, self.describe)

    async def wait_for_replies(self, where: Where, count: int, timeout_s: float = WAIT_S) -> list[Message]:
        """Wait until bots have at least this many messages in a conversation, and return them."""
        return await self.wait_for(
            lambda: replies if len(replies := self.replies(where)) >= count else [], timeout_s
        )

    async def wait_for_sockets(self, count: int = 1) -> None:
        """Wait until the first app has this many sockets open."""
        await self.wait_for(lambda: len(self.sockets.of(self.account)) == count)

    async def wait_for_acks(self) -> None:
        """Wait until nothing on its way to the first app is unacknowledged."""
        await self.wait_for(lambda: not self.deliveries.open)

    def describe(self) -> str:
        """The state in short, for the text of a failed wait."""
        lines = [f"calls: {self.recorder.counts()}", f"sockets: {len(self.sockets.open)}"]
        lines.append(f"unacknowledged: {[one.kind for one in self.deliveries.open.values()]}")
        if self.refusals:
            lines.append(f"refusals: {dict(self.refusals)}")
        for channel in self.world.channels.values():
            shown = [f"{one.user.name}: {one.shown[:60]!r}" for one in list(channel.messages.values())[-5:]]
            lines += [f"channel {channel.id}: {shown}"] if shown else []
        return "\n".join(lines)

    def _member(self, channel: Channel, user: User | str | None) -> User:
        if isinstance(user, User):
            return user
        return next(iter(channel.members.values())) if user is None else self.world.users[user]
