"""The control actions over HTTP, for tests whose bot runs in another process.

Chats, users, messages go by their ids.

    POST /sim/say      {"chat": 123, "text": "hello"}                     → the message POST /sim/wait
    {"chat": 123, "replies": 1, "timeout_s": 10}       → the bots' messages in that chat POST /sim/press
    {"chat": 123, "message_id": 7, "button": "Once"}   → the press POST /sim/fault    {"kind": "refuse",
    "status": 429, "retry_after_s": 2, "method": "sendMessage", "chat": 123} POST /sim/counters {}
    → calls, refusals, violations

`GET /sim` lists all with their arguments.
"""

from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..remote import RemoteActions
from .appearance import styled_runs
from .records import Chat, Message, Press, User

if TYPE_CHECKING:
    from .simulator import TelegramSimulator


def remote_actions(sim: "TelegramSimulator") -> dict[str, Callable[..., Any]]:
    """The actions by name."""
    return _Remote(sim).by_name()


class _Remote(RemoteActions):
    def view(self, message: Message) -> dict[str, Any]:
        return message_view(message)

    def _member(self, user_id: int) -> User:
        return self._sim.world.users.get(user_id) or self._sim.add_user(user_id)

    def do_bot(self) -> dict[str, Any]:
        account = self._sim.account
        return {"token": account.token, "id": account.user.id, "username": account.user.username}

    def do_user(self, user: int, name: str = "", username: str | None = None) -> int:
        return self._sim.add_user(user, name, username).id

    def do_group(self, title: str, members: list[int], kind: str = "group", chat: int | None = None) -> int:
        people = [self._member(one) for one in members]
        if kind == "group":
            return self._sim.add_group(title, people, chat).id
        return self._sim.people.add_supergroup(title, people, chat, is_forum=kind == "forum").id

    def do_topic(self, chat: int, name: str) -> int:
        return self._sim.add_topic(self._sim.chat(chat), name).id

    def do_say(
        self,
        chat: int,
        text: str,
        user: int | None = None,
        reply_to: int | None = None,
        thread: int | None = None,
        file: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        if chat > 0:
            self._member(chat)
        if user is not None:
            self._member(user)
        place = self._sim.chat(chat)
        message = self._sim.say(
            place,
            text,
            user=user,
            reply_to=None if reply_to is None else place.messages[reply_to],
            thread=thread,
            file=None if file is None else (file["kind"], file["name"], b64decode(file["base64"])),
        )
        return message_view(message)

    def do_edit(self, chat: int, message_id: int, text: str) -> dict[str, Any]:
        message = self._sim.chat(chat).messages[message_id]
        self._sim.edit(message, text)
        return message_view(message)

    def do_delete(self, chat: int, message_id: int) -> None:
        self._sim.people.delete(self._sim.chat(chat).messages[message_id])

    def do_press(
        self,
        chat: int,
        message_id: int,
        button: int | str | None = None,
        data: str = "",
        user: int | None = None,
    ) -> dict[str, Any]:
        message = self._sim.chat(chat).messages[message_id]
        if button is None:
            return press_view(self._sim.press_data(message, data, user))
        return press_view(self._sim.press(message, button, user))

    def do_press_state(self, press: str) -> dict[str, Any]:
        return press_view(self._sim.world.presses[press])

    def do_messages(self, chat: int, after: int = 0) -> list[dict[str, Any]]:
        return [message_view(one) for one in self._sim.messages(chat) if one.id > after]

    def do_drafts(self, chat: int) -> list[str]:
        return [draft.text for draft in self._sim.chat(chat).drafts]

    def do_bar(self, chat: int, reason: str = "bot was blocked by the user") -> None:
        self._sim.people.bar(self._sim.chat(chat), reason)

    def do_unbar(self, chat: int) -> None:
        self._sim.people.unbar(self._sim.chat(chat))

    def do_migrate(self, chat: int) -> int:
        return self._sim.people.migrate(self._sim.chat(chat)).id

    async def do_wait(
        self,
        chat: int | None = None,
        replies: int = 0,
        text: str = "",
        method: str = "",
        calls: int = 1,
        press: str = "",
        timeout_s: float = 10,
    ) -> Any:
        """Wait for replies in a chat (that many, one with `text`), calls of a method, or a press's answer."""
        sim = self._sim
        if press:
            await sim.wait_for(lambda: sim.world.presses[press].answered_at_s, timeout_s)
            return press_view(sim.world.presses[press])
        if method:
            return await self._calls_made(method, calls, timeout_s)
        if chat is None:
            raise ValueError("wait for what? give chat, method or press")
        return await self._shown(chat, replies, text, timeout_s)


def message_view(message: Message) -> dict[str, Any]:
    """A message as JSON for tests: as shown, with styled runs and earlier texts."""
    chat: Chat = message.chat
    return {
        "chat": chat.id,
        "message_id": message.id,
        "from": message.sender.id,
        "is_bot": message.sender.is_bot,
        "text": message.text,
        "runs": [{"text": run.text, "styles": list(run.styles)} for run in styled_runs(message)],
        "buttons": [
            [{"text": button.text, "data": button.callback_data, "url": button.url} for button in row]
            for row in message.buttons
        ],
        "thread": message.thread,
        "reply_to": None if message.reply_to is None else message.reply_to.id,
        "earlier": message.texts()[:-1],
        "file": None if message.file is None else message.file.name,
        "reactions": list(message.reactions),
        "at_s": message.at_s,
    }


def press_view(press: Press) -> dict[str, Any]:
    """A press as JSON for tests."""
    return {
        "id": press.id,
        "data": press.data,
        "is_answered": press.answered_at_s is not None,
        "answer": press.answer,
    }
