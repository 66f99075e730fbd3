"""What people do in the simulated Telegram.

Write, edit, press, block. Bots hear of it through their updates.
"""

import re
from dataclasses import replace
from typing import Any

from .params import Upload
from .payloads import chat_payload, press_payload, user_payload
from .records import Chat, Keyboard, Message, Press, Revision, Topic, User
from .sending import store_file
from .text import Entity, utf16_length
from .world import Account, World

# What the server marks by itself in a text (TDLib, match_bot_commands, match_mentions, read 2026).
_COMMAND = re.compile(r"(?<![\w/<>])/[a-zA-Z0-9_]{1,64}(?:@[a-zA-Z0-9_]{3,32})?(?![\w/<>@])")
_MENTION = re.compile(r"(?<!\w)@[a-zA-Z0-9_]{2,32}(?!\w)")
_URL = re.compile(r"https?://[^\s<>]+[^\s<>.,;:!?)\]}'\"]")
_SUPERGROUP = 1_000_000_000_000


def find_entities(text: str) -> tuple[Entity, ...]:
    """The entities the server finds by itself in what a person typed: commands, mentions, links."""
    found: list[tuple[int, int, str]] = []
    for kind, pattern in (("url", _URL), ("bot_command", _COMMAND), ("mention", _MENTION)):
        for match in pattern.finditer(text):
            if not any(begin < match.end() and match.start() < end for begin, end, _ in found):
                found.append((match.start(), match.end(), kind))
    return tuple(
        Entity(type=kind, offset=utf16_length(text[:begin]), length=utf16_length(text[begin:end]))
        for begin, end, kind in sorted(found)
    )


class People:
    """Users and their doings in one world. Chats may be named by id, users by id or as records."""

    def __init__(self, world: World) -> None:
        self._world = world

    def add_user(
        self,
        user_id: int | None = None,
        name: str = "",
        username: str | None = None,
        *,
        has_started: bool = True,
    ) -> User:
        """Make a person and, with each bot, the private chat.

        Unless the person `has_started` the bot, it may not write first.
        """
        user_id = user_id or 1000 + next(self._world.ids)
        user = User(id=user_id, first_name=name or f"User {user_id}", username=username)
        self._world.users[user_id] = user
        for account in self._world.accounts.values():
            chat = self._world.private_chat(account, user)
            chat.barred = None if has_started else "bot can't initiate conversation with a user"
        return user

    def add_group(self, title: str, members: list[User], chat_id: int | None = None) -> Chat:
        """Make a basic group; ids count down from -1."""
        return self._add_chat(Chat(id=chat_id or -next(self._world.ids), kind="group", title=title), members)

    def add_supergroup(
        self,
        title: str,
        members: list[User],
        chat_id: int | None = None,
        *,
        is_forum: bool = False,
        username: str | None = None,
    ) -> Chat:
        """Make a supergroup, with `is_forum` one with topics (General is there from the start)."""
        number = chat_id or -_SUPERGROUP - next(self._world.ids)
        chat = Chat(id=number, kind="supergroup", title=title, is_forum=is_forum, username=username)
        return self._add_chat(chat, members)

    def _add_chat(self, chat: Chat, members: list[User]) -> Chat:
        chat.members = {user.id: user for user in members}
        self._world.chats[None, chat.id] = chat
        return chat

    def add_topic(self, chat: Chat, name: str, user: User | None = None) -> Topic:
        """Open a topic; its id is that of its service message."""
        creator = user or next(iter(chat.members.values()))
        number = chat.next_message_id
        chat.topics[number] = Topic(id=number, name=name)
        service = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
        message = self._world.post(
            chat, creator, self._world.recorder.clock(), thread=number, service=service
        )
        message.at_s = self._world.announce("message", message)
        return chat.topics[number]

    def say(
        self,
        chat: Chat,
        text: str,
        *,
        user: User,
        reply_to: Message | None = None,
        thread: int | None = None,
        entities: tuple[Entity, ...] | None = None,
        quote: str | None = None,
        file: tuple[str, str, bytes] | None = None,
        claimed_bytes: int | None = None,
        album: str | None = None,
    ) -> Message:
        """Post a person's message.

        Args:
            chat: Where; with a `thread`, in that topic.
            text: The text, or the caption of the file.
            user: Who.
            reply_to: The message answered; without a thread of its own the answer stays in that one's topic.
            thread: A topic's id.
            entities: Instead of those the server would find.
            quote: The quoted part of the message answered.
            file: Kind (document, photo, voice, …), name and bytes.
            claimed_bytes: The size the platform shall state instead of the real one.
            album: The media_group_id joining several files.
        """
        if chat.kind == "private":
            chat.barred = None  # who writes to a bot starts or unblocks it
        stored = None
        if file is not None:
            kind, name, content = file
            stored = store_file(self._world, kind, Upload(name=name, mime="", content=content), claimed_bytes)
        if thread is None and reply_to is not None:
            thread = reply_to.thread
        message = self._world.post(
            chat,
            user,
            self._world.recorder.clock(),
            text=text,
            entities=find_entities(text) if entities is None else entities,
            reply_to=reply_to,
            thread=thread,
            quote=quote,
            file=stored,
            file_kind=None if file is None else file[0],
            album=album,
        )
        message.at_s = self._world.announce("message", message)
        return message

    def edit(self, message: Message, text: str) -> None:
        """Change a person's message; bots get `edited_message`."""
        now = self._world.recorder.clock()
        message.edits.append(
            Revision(text=message.text, entities=message.entities, buttons=message.buttons, until_s=now)
        )
        message.text, message.entities = text, find_entities(text)
        message.edited_at = self._world.now()
        self._world.announce("edited_message", message)

    def delete(self, message: Message) -> None:
        """Delete any message; bots are not told, but can no longer answer or edit it."""
        message.is_deleted = True
        self._world.changes.notify()

    def press(self, message: Message, data: str, user: User) -> Press:
        """Press a button by its callback data, also one no longer shown.

        Only the message's own bot hears it.
        """
        account = next(one for one in self._world.accounts.values() if one.user.id == message.sender.id)
        press = Press(
            id=str(4_000_000_000 + next(self._world.ids)),
            message=message,
            data=data,
            user=user,
            account=account.token,
            at_s=self._world.recorder.clock(),
        )
        self._world.presses[press.id] = press
        update = account.updates.append("callback_query", press_payload(press))
        press.at_s = update.available_at_s if update else press.at_s
        self._world.changes.notify()
        return press

    def bar(self, chat: Chat, reason: str = "bot was blocked by the user") -> None:
        """Make every request of bots to this chat fail with 403; bots get `my_chat_member`."""
        chat.barred = reason
        self._announce_membership(chat, "member", "kicked")

    def unbar(self, chat: Chat) -> None:
        """Undo `bar`."""
        chat.barred = None
        self._announce_membership(chat, "kicked", "member")

    def _announce_membership(self, chat: Chat, old: str, new: str) -> None:
        user = next(iter(chat.members.values()))
        for account in self._world.accounts.values():
            if chat.account in {None, account.token}:
                account.updates.append("my_chat_member", self._membership(account, chat, user, (old, new)))
        self._world.changes.notify()

    def _membership(
        self, account: Account, chat: Chat, user: User, change: tuple[str, str]
    ) -> dict[str, Any]:
        bot = user_payload(account.user)
        old, new = (
            {"status": status, "user": bot} | ({"until_date": 0} if status == "kicked" else {})
            for status in change
        )
        return {
            "chat": chat_payload(chat),
            "from": user_payload(user),
            "date": self._world.now(),
            "old_chat_member": old,
            "new_chat_member": new,
        }

    def migrate(self, group: Chat) -> Chat:
        """Upgrade a group.

        Requests to the old id are refused with the new one, both sides get service messages.
        """
        members = list(group.members.values())
        chat = self.add_supergroup(group.title, members)
        now = self._world.recorder.clock()
        left = self._world.post(group, members[0], now, service={"migrate_to_chat_id": chat.id})
        came = self._world.post(chat, members[0], now, service={"migrate_from_chat_id": group.id})
        self._world.announce("message", left)
        self._world.announce("message", came)
        group.migrated_to = chat.id
        return chat

    def repeat_update(self, message: Message) -> None:
        """Deliver a message again under a new update id, as happens after a fault on the platform's side."""
        self._world.announce("message", message)

    def rename(self, user: User, name: str) -> User:
        """Change a person's visible name, for later messages."""
        renamed = replace(user, first_name=name)
        self._world.users[user.id] = renamed
        return renamed


def find_button(keyboard: Keyboard, wanted: int | str) -> str:
    """The callback data of a button.

    Args:
        keyboard: The buttons shown.
        wanted: Its number, from 0, row by row, or its text: the exact one, else the only one containing it.

    Raises:
        LookupError: No such button, or several.
    """
    buttons = [button for row in keyboard for button in row]
    if isinstance(wanted, int):
        found = buttons[wanted : wanted + 1]
    else:
        found = [button for button in buttons if button.text == wanted] or [
            button for button in buttons if wanted in button.text
        ]
    if len(found) != 1 or found[0].callback_data is None:
        raise LookupError(f"no button {wanted!r} among {[button.text for button in buttons]}")
    return found[0].callback_data
