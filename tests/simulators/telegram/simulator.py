"""The simulator as tests hold it: a running server, people to act as, and all that happened.

    async with TelegramSimulator() as sim:
        ada = sim.add_user(name="Ada")
        bot = Bot(sim.token, base_url=sim.url + "/bot", base_file_url=sim.url + "/file/bot")
        sim.say(ada, "hello")
        ...
        await sim.wait_for_replies(ada, 1)
        assert sim.replies(ada)[0].text == "hi"
        assert not sim.refusals and not sim.violations

The same is offered over HTTP (`remote.py`). State is the simulator's own: it survives whatever the bot does.
"""

from types import TracebackType
from typing import Any, Self, TypeVar

from ..control import control_routes
from ..faults import Plan, Refuse
from ..server import LoopbackServer, make_app
from ..simulated import WAIT_S, SimulatedPlatform, in_short
from .endpoint import Endpoint
from .flood import FloodLimit, Rate
from .people import People, find_button
from .records import Chat, Message, Press, Topic, User
from .webhooks import WebhookSender
from .world import Account, World

T = TypeVar("T")
Where = Chat | User | int
DEFAULT_BOT_ID = 7_000_000_001


class TelegramSimulator(SimulatedPlatform):
    """A Telegram of one's own on a loopback port. One bot exists from the start; `add_bot` makes more.

    A bot's `base_url` is `url` + "/bot".
    """

    sends = "sendMessage"

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        from .remote import remote_actions

        super().__init__()
        self.world = World(self.recorder, self.changes)
        self.people = People(self.world)
        self.account = self.world.add_account("Parley", "parley_sim_bot", DEFAULT_BOT_ID)
        self._webhooks = WebhookSender(self.world)
        self._endpoint = Endpoint(self.world, self.faults)
        routes = self._endpoint.routes() + control_routes(remote_actions(self))
        self._server = LoopbackServer(make_app(routes), host, port)

    async def __aenter__(self) -> Self:
        await self._server.start()
        self._webhooks.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.faults.clear()
        await self._webhooks.stop()
        await self._server.stop()

    # Where it is, and whose it is.

    def add_bot(self, name: str, username: str) -> Account:
        """Make another bot; it shares groups with the first and has private chats of its own."""
        account = self.world.add_account(name, username, DEFAULT_BOT_ID + len(self.world.accounts))
        for user in self.world.users.values():
            self.world.private_chat(account, user)
        return account

    # What people do.

    def add_user(
        self,
        user_id: int | None = None,
        name: str = "",
        username: str | None = None,
        *,
        has_started: bool = True,
    ) -> User:
        """Make a person; without `has_started` bots may not write to them first."""
        return self.people.add_user(user_id, name, username, has_started=has_started)

    def add_group(self, title: str, members: list[User], chat_id: int | None = None) -> Chat:
        """Make a basic group."""
        return self.people.add_group(title, members, chat_id)

    def add_supergroup(self, title: str, members: list[User], chat_id: int | None = None) -> Chat:
        """Make a supergroup without topics."""
        return self.people.add_supergroup(title, members, chat_id)

    def add_forum(self, title: str, members: list[User], chat_id: int | None = None) -> Chat:
        """Make a supergroup with topics."""
        return self.people.add_supergroup(title, members, chat_id, is_forum=True)

    def add_topic(self, forum: Chat, name: str) -> Topic:
        """Open a topic in a forum."""
        return self.people.add_topic(forum, name)

    def say(self, where: Where, text: str, *, user: User | int | None = None, **details: Any) -> Message:
        """Post as a person: in a private chat its user, in a group the first member unless `user` is given.

        Details are those of `People.say`: reply_to, thread, entities, quote, file, claimed_bytes, album.
        """
        chat = self.chat(where)
        speaker = self.user(user) if user is not None else next(iter(chat.members.values()))
        return self.people.say(chat, text, user=speaker, **details)

    def edit(self, message: Message, text: str) -> None:
        """Edit a person's message."""
        self.people.edit(message, text)

    def press(self, message: Message, button: int | str, user: User | int | None = None) -> Press:
        """Press a shown button, by number or text; in a private chat by its user, else by `user`."""
        return self.press_data(message, find_button(message.buttons, button), user)

    def press_data(self, message: Message, data: str, user: User | int | None = None) -> Press:
        """Press by callback data, also a button that is shown no more (an old client does that)."""
        presser = self.user(user) if user is not None else next(iter(message.chat.members.values()))
        return self.people.press(message, data, presser)

    # What goes wrong.

    def limit_speed(self, private: Rate | None = None, group: Rate | None = None) -> None:
        """Answer what comes too fast in one chat with 429, from now on, at the platform's usual rates or these."""
        limit = FloodLimit(clock=self.recorder.clock)
        limit.private, limit.group = private or limit.private, group or limit.group
        self._endpoint.flood = limit

    def conflict(self, times: int = 1) -> Plan:
        """Fail the next polls as if another process polled with the same token."""
        text = "terminated by other getUpdates request; make sure that only one bot instance is running"
        return self.fail(Refuse(status=409, text=text), "getUpdates", times=times)

    # What happened.

    def chat(self, where: Where, account: Account | None = None) -> Chat:
        """The chat meant: a user means the private chat with the first bot, or with `account`."""
        if isinstance(where, Chat):
            return where
        number = self.place_id(where)
        token = (account or self.account).token
        found = self.world.chats.get((token, number)) or self.world.chats.get((None, number))
        if found is None:
            raise LookupError(f"no chat {number}")
        return found

    def user(self, who: User | int) -> User:
        """The person of this id."""
        return who if isinstance(who, User) else self.world.users[who]

    def messages(self, where: Where) -> list[Message]:
        """All messages now shown in a chat, oldest first, service messages included."""
        return [message for message in self.chat(where).messages.values() if not message.is_deleted]

    def replies(self, where: Where) -> list[Message]:
        """The messages of bots now shown in a chat."""
        return [message for message in self.messages(where) if message.sender.is_bot]

    async def wait_for_replies(self, where: Where, count: int, timeout_s: float = WAIT_S) -> list[Message]:
        """Wait until bots have at least this many messages in a chat, and return them."""
        chat = self.chat(where)

        def enough() -> list[Message]:
            # Counting first keeps a wait for the last of thousands from walking the history at every change.
            shown = self.replies(chat) if chat.bot_messages >= count else []
            return shown if len(shown) >= count else []

        return await self.wait_for(enough, timeout_s)

    def place_id(self, where: Where) -> int:
        """A chat's id; a person's is their private chat's."""
        return where if isinstance(where, int) else where.id

    def newest(self) -> list[tuple[str, list[str]]]:
        """The last messages of each chat."""
        return [
            (
                f"chat {chat.id}",
                [in_short(one.sender.first_name, one.text) for one in list(chat.messages.values())[-5:]],
            )
            for chat in self.world.chats.values()
        ]
