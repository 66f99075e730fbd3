"""The simulator as tests hold it: a running server, people to act as, and all that happened.

    async with DiscordSimulator() as sim:
        ada = sim.add_user(name="Ada")
        discord.http.Route.BASE = sim.api_base
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(sim.gateway_url)
        ...
        sim.say(ada, "hello")
        await sim.wait_for_replies(ada, 1)
        assert sim.replies(ada)[0].text == "hi"
        assert not sim.refusals and not sim.violations

The same is offered over HTTP (`remote.py`). State is the simulator's own: it survives whatever the bot does.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from ..control import control_routes
from ..server import LoopbackServer, make_app
from ..simulated import SimulatedPlatform, in_short
from .endpoint import BASE, Endpoint
from .gateway import Gateway
from .limits import Limits
from .people import People
from .records import TEXT, Account, Channel, Guild, Interaction, Message, User
from .world import World

T = TypeVar("T")
Where = Channel | User | int


class DiscordSimulator(SimulatedPlatform):
    """A Discord of one's own on a loopback port. One bot exists from the start; `add_bot` makes more."""

    sends = "createMessage"

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        from .remote import remote_actions

        super().__init__()
        self.world = World(self.recorder, self.changes)
        self.people = People(self.world)
        self.gateway = Gateway(self.world)
        self.limits = Limits(self.recorder.clock)
        self.account = self.world.add_account("Parley")
        endpoint = Endpoint(self.world, self.faults, self.limits, lambda: self.gateway.url)
        routes = [*endpoint.routes(), web.get("/gateway/", self.gateway.serve)]
        self._server = LoopbackServer(make_app([*routes, *control_routes(remote_actions(self))]), host, port)

    async def __aenter__(self) -> Self:
        await self._server.start()
        self.world.base = self._server.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.faults.clear()
        self.gateway.interrupt()
        await self._server.stop()

    # Where it is, and whose it is.

    @property
    def api_base(self) -> str:
        """What `Route.BASE` must be."""
        return self.url + BASE

    @property
    def gateway_url(self) -> str:
        """What `DEFAULT_GATEWAY` must be."""
        return self.gateway.url

    def add_bot(self, name: str) -> Account:
        """Make another bot; it shares guilds with the first and has direct channels of its own."""
        return self.world.add_account(name)

    async def interrupt(self, while_down: Callable[[], Any] | None = None) -> None:
        """Stop listening and listen again on the same port: every connection is lost, no state is."""
        self.gateway.interrupt()
        await self._server.stop()
        if while_down is not None:
            await while_down()
        await self._server.start()

    # What people do.

    def add_user(self, user_id: int | None = None, name: str = "") -> User:
        """Make a person."""
        return self.people.add_user(user_id, name)

    def add_guild(self, name: str, members: list[User]) -> Guild:
        """Make a server with a first channel."""
        return self.people.add_guild(name, members)

    def add_channel(self, guild: Guild, name: str, kind: int = TEXT) -> Channel:
        """Make a further channel in a server."""
        return self.people.add_channel(guild, name, kind)

    def add_thread(self, parent: Channel, name: str, owner: User | None = None) -> Channel:
        """Open a thread; its owner is the server's unless given."""
        assert parent.guild is not None
        return self.people.add_thread(parent, name, owner or parent.guild.owner)

    def say(self, where: Where, text: str, *, user: User | int | None = None, **details: Any) -> Message:
        """Post as a person: in a direct channel its person, in a server its owner unless `user` is given.

        Details are those of `People.say`: reply_to, ping, file, claimed_bytes, forward, kind, is_webhook.
        """
        channel = self.channel(where)
        return self.people.say(channel, text, user=self._speaker(channel, user), **details)

    def edit(self, message: Message, text: str) -> None:
        """Edit a person's message."""
        self.people.edit(message, text)

    def delete(self, message: Message) -> None:
        """Delete a message."""
        self.people.delete(message)

    def press(self, message: Message, button: int | str, user: User | int | None = None) -> Interaction:
        """Press a shown button, by number or label."""
        return self.press_id(message, find_button(message, button), user)

    def press_id(self, message: Message, custom_id: str, user: User | int | None = None) -> Interaction:
        """Press by custom id, also a button that is shown no more (an old client does that)."""
        return self.people.press(message, custom_id, self._speaker(message.channel, user))

    def command(self, where: Where, name: str, user: User | int | None = None, **options: Any) -> Interaction:
        """Call one of the first bot's application commands."""
        channel = self.channel(where)
        return self.people.command(self.account, channel, name, self._speaker(channel, user), options)

    # What happened.

    def channel(self, where: Where, account: Account | None = None) -> Channel:
        """The channel meant: a user means the direct channel with the first bot, or with `account`."""
        if isinstance(where, Channel):
            return where
        if isinstance(where, int) and where in self.world.channels:
            return self.world.channels[where]
        return self.world.direct_channel(account or self.account, self.user(where))

    def user(self, who: User | int) -> User:
        """The person of this id."""
        return who if isinstance(who, User) else self.world.users[who]

    def messages(self, where: Where) -> list[Message]:
        """All messages now shown in a channel, oldest first."""
        return [message for message in self.channel(where).messages.values() if not message.is_deleted]

    def replies(self, where: Where) -> list[Message]:
        """The messages of bots now shown in a channel."""
        return [message for message in self.messages(where) if message.author.is_bot]

    def place_id(self, where: Where) -> int:
        """A channel's id; a person means the direct one."""
        return self.channel(where).id

    def details(self) -> list[str]:
        """How many sessions there are."""
        return [f"sessions: {len(self.world.sessions)}"]

    def newest(self) -> list[tuple[str, list[str]]]:
        """The last messages of each channel."""
        return [
            (
                f"channel {channel.id}",
                [in_short(one.author.username, one.text) for one in list(channel.messages.values())[-5:]],
            )
            for channel in self.world.channels.values()
        ]

    def _speaker(self, channel: Channel, user: User | int | None) -> User:
        if user is not None:
            return self.user(user)
        return channel.guild.owner if channel.guild else next(iter(channel.members.values()))


def find_button(message: Message, wanted: int | str) -> str:
    """The custom id of a button, by its number (from 0, row by row) or label.

    Raises:
        LookupError: no such button, or several.
    """
    buttons = [button for row in message.rows for button in row]
    if isinstance(wanted, int):
        found = buttons[wanted : wanted + 1]
    else:
        found = [button for button in buttons if button.label == wanted] or [
            button for button in buttons if wanted in button.label
        ]
    if len(found) != 1 or found[0].custom_id is None:
        raise LookupError(f"no button {wanted!r} among {[button.label for button in buttons]}")
    return found[0].custom_id
