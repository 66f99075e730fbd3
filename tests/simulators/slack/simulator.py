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
from types import TracebackType
from typing import Any, Self, TypeVar

from ..control import control_routes
from ..faults import Plan, Refuse
from ..server import LoopbackServer, make_app
from ..simulated import SENDS, SimulatedPlatform, in_short
from .deliveries import Deliveries
from .endpoint import Endpoint
from .people import People, find_button
from .records import Channel, Command, Ephemeral, Message, Press, User
from .sockets import Reason, Sockets
from .webhooks import Webhook
from .world import TEAM, Account, World

T = TypeVar("T")
Where = Channel | User | str


class SlackSimulator(SimulatedPlatform):
    """A Slack of one's own on a loopback port. One app is installed from the start; `add_bot` makes more."""

    sends = "chat.postMessage"

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        from .remote import remote_actions

        super().__init__()
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
    def api_url(self) -> str:
        """The Web API's address, as a client's `base_url`."""
        return self._server.url + "/api/"

    @property
    def app_token(self) -> str:
        """The first app's app-level token."""
        return self.account.app_token

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

    def refuse(self, error: str, method: str | None = SENDS, times: int = 1, **details: Any) -> Plan:
        """Answer the next requests with an error of the Web API."""
        return self.fail(Refuse(status=200, text=error, parameters=details), method, None, times)

    def disconnect(self, reason: Reason = "warning") -> None:
        """Announce to the first app that its sockets will be closed; `close_leaving` closes them."""
        self.sockets.disconnect(self.account, reason)

    def close_leaving(self) -> None:
        """Close the sockets of which `disconnect` told."""
        self.sockets.close_leaving(self.account)

    def cut_sockets(self) -> None:
        """Cut the first app's sockets, as a lost network does."""
        self.sockets.abort(self.account)

    # What happened.

    @property
    def pings(self) -> Counter[str]:
        """Whom bots' messages would have notified: ids, and the words channel, here, everyone."""
        return self.world.pings

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

    async def wait_for_sockets(self, count: int = 1) -> None:
        """Wait until the first app has this many sockets open."""
        await self.wait_for(lambda: len(self.sockets.of(self.account)) == count)

    async def wait_for_acks(self) -> None:
        """Wait until nothing on its way to the first app is unacknowledged."""
        await self.wait_for(lambda: not self.deliveries.open)

    def place_id(self, where: Where) -> str:
        """A conversation's id; a person means the direct chat."""
        return self.channel(where).id

    def details(self) -> list[str]:
        """The sockets, and what is on its way."""
        waiting = [one.kind for one in self.deliveries.open.values()]
        return [f"sockets: {len(self.sockets.open)}", f"unacknowledged: {waiting}"]

    def newest(self) -> list[tuple[str, list[str]]]:
        """The last messages of each conversation."""
        return [
            (
                f"channel {channel.id}",
                [in_short(one.user.name, one.shown) for one in list(channel.messages.values())[-5:]],
            )
            for channel in self.world.channels.values()
        ]

    def _member(self, channel: Channel, user: User | str | None) -> User:
        if isinstance(user, User):
            return user
        return next(iter(channel.members.values())) if user is None else self.world.users[user]
