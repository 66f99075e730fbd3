"""The simulated platform's memory: who and what exists, and the one place where messages are made.

Methods (what bots ask) and people (what tests do) both work on a `World`; it knows no HTTP.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from time import time
from typing import Any

from ..changes import Changes
from ..recorder import Recorder
from .errors import ApiError, bad_request, forbidden
from .payloads import message_payload
from .records import Chat, Message, Press, StoredFile, User
from .updates import UpdateQueue

TOKEN_TAIL = "AAFsimulated-token-of-35-characters"


@dataclass(slots=True, kw_only=True, eq=False)
class Account:
    """One bot: its token, its updates, what it configured."""

    user: User
    token: str
    updates: UpdateQueue
    commands: dict[str, list[dict[str, str]]] = field(default_factory=dict)  # by scope and language, as JSON
    webhook_url: str = ""
    webhook_secret: str = ""
    webhook_error: str = ""
    reads_all: bool = True  # False: privacy mode, only what concerns the bot reaches it in groups


class World:
    """All state of one simulated Telegram."""

    def __init__(self, recorder: Recorder, changes: Changes, now: Callable[[], float] = time) -> None:
        self.recorder, self.changes, self._now = recorder, changes, now
        self.accounts: dict[str, Account] = {}  # by token
        self.users: dict[int, User] = {}
        self.chats: dict[
            tuple[str | None, int], Chat
        ] = {}  # private ones by (token, user id), else (None, id)
        self.presses: dict[str, Press] = {}
        self.files: dict[str, StoredFile] = {}
        self.ids = count(1)
        self.webhook_was_set = asyncio.Event()

    def add_account(self, name: str, username: str, bot_id: int) -> Account:
        """Make a bot."""
        user = User(id=bot_id, first_name=name, username=username, is_bot=True)
        token = f"{bot_id}:{TOKEN_TAIL}"
        account = Account(user=user, token=token, updates=UpdateQueue(self.recorder.clock))
        self.accounts[token] = account
        return account

    def now(self) -> int:
        """Unix time in seconds, as messages carry it."""
        return int(self._now())

    def find_chat(self, account: Account, chat_id: str) -> Chat:
        """The chat a bot named, whether or not it may write there.

        Raises:
            ApiError: 400 "chat not found".
        """
        if not chat_id:
            raise bad_request("chat_id is empty")
        if chat_id.startswith("@"):
            for chat in self.chats.values():
                if chat.kind != "private" and chat.username == chat_id[1:]:
                    return chat
            raise bad_request("chat not found")
        try:
            number = int(chat_id)
        except ValueError:
            raise bad_request("chat not found") from None
        found = self.chats.get((account.token, number)) or self.chats.get((None, number))
        if found is None:
            raise bad_request("chat not found")
        return found

    def chat_to_write(self, account: Account, chat_id: str) -> Chat:
        """The chat a bot named, if it may write there.

        Raises:
            ApiError: 400 chat not found or migrated; 403 blocked or kicked.
        """
        chat = self.find_chat(account, chat_id)
        if chat.migrated_to is not None:
            raise bad_request(
                "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
            )
        if chat.barred:
            raise forbidden(chat.barred)
        return chat

    def private_chat(self, account: Account, user: User) -> Chat:
        """The private chat of a bot and a user, made when it is first needed."""
        key = (account.token, user.id)
        if key not in self.chats:
            self.chats[key] = Chat(
                id=user.id,
                kind="private",
                title=user.first_name,
                username=user.username,
                account=account.token,
                members={user.id: user},
            )
        return self.chats[key]

    def post(self, chat: Chat, sender: User, at_s: float, **fields: Any) -> Message:
        """Put a message into a chat. Fields are those of `Message`."""
        reply = fields.get("reply_to")
        root = None if reply is None else reply.root or reply.id
        number = chat.next_message_id
        chat.next_message_id += 1
        message = Message(
            chat=chat, id=number, sender=sender, date=self.now(), at_s=at_s, root=root, **fields
        )
        chat.messages[number] = message
        if sender.is_bot:
            chat.bot_messages += 1
            chat.drafts.clear()
        return message

    def announce(self, kind: str, message: Message) -> float:
        """Tell the bots of a chat about a person's message.

        Returns when the first could have it (monotonic).
        """
        at_s = self.recorder.clock()
        payload = message_payload(message)
        for account in self.accounts.values():
            if message.chat.account in {None, account.token} and concerns(account, message):
                update = account.updates.append(kind, payload)
                at_s = update.available_at_s if update else at_s
        self.changes.notify()
        return at_s

    def own_message(self, account: Account, chat: Chat, message_id: int, missing: str) -> Message:
        """A bot's own message, to be edited.

        Raises:
            ApiError: 400 with `missing` when it is not there, or because it is another's.
        """
        message = chat.messages.get(message_id)
        if message is None or message.is_deleted:
            raise bad_request(missing)
        if message.sender.id != account.user.id:
            raise bad_request("message can't be edited")
        return message

    def account(self, token: str) -> Account:
        """The bot of a token.

        Raises:
            ApiError: 401 for a wrong one, 404 for what is no token at all.
        """
        if token in self.accounts:
            return self.accounts[token]
        if not token.partition(":")[0].isdigit():
            raise ApiError(404, "Not Found")
        raise ApiError(401, "Unauthorized")


def concerns(account: Account, message: Message) -> bool:
    """Whether a bot is told of a message: always, except in groups under privacy mode."""
    if account.reads_all or message.chat.kind == "private":
        return True
    if message.reply_to is not None and message.reply_to.sender.id == account.user.id:
        return True
    text = message.text.lower()
    name = f"@{account.user.username}".lower()
    command = text.split(maxsplit=1)[0] if text.startswith("/") else ""
    return name in text or (bool(command) and "@" not in command)
