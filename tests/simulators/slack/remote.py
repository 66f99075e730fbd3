"""The control actions over HTTP, for tests whose app runs in another process.

Channels and users go by their ids (a user's id as channel: the direct chat), messages by channel and ts.

    POST /sim/say      {"channel": "U1", "text": "hello"}                → the message
    POST /sim/mention  {"channel": "C1", "text": "hello", "user": "U1"}  → the message
    POST /sim/wait     {"channel": "U1", "replies": 1, "timeout_s": 10}  → the bots' messages there
    POST /sim/press    {"channel": "U1", "ts": "17…", "button": "Once"}  → the press
    POST /sim/fault    {"kind": "refuse", "status": 429, "retry_after_s": 2, "method": "chat.postMessage"}
    POST /sim/counters {}                                                → calls, refusals, violations, pings

`GET /sim` lists all with their arguments.
"""

from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..remote import RemoteActions
from .records import Message, Press

if TYPE_CHECKING:
    from .simulator import SlackSimulator


def remote_actions(sim: "SlackSimulator") -> dict[str, Callable[..., Any]]:
    """The actions by name."""
    return _Remote(sim).by_name()


class _Remote(RemoteActions):
    def view(self, message: Message) -> dict[str, Any]:
        return message_view(message)

    def text_of(self, message: Message) -> str:
        return message.shown

    def do_bot(self) -> dict[str, Any]:
        account = self._sim.account
        return {
            "token": account.token,
            "app_token": account.app_token,
            "signing_secret": account.signing_secret,
            "id": account.user.id,
            "team": account.user.team,
        }

    def do_user(self, user: str | None = None, name: str = "") -> str:
        return self._sim.add_user(user, name).id

    def do_channel(
        self, name: str, members: list[str], channel: str | None = None, kind: str = "channel"
    ) -> str:
        people = [self._sim.world.users.get(one) or self._sim.add_user(one) for one in members]
        return self._sim.add_channel(name, people, channel, kind=kind).id

    def do_say(
        self,
        channel: str,
        text: str,
        user: str | None = None,
        thread: str | None = None,
        raw: str | None = None,
        file: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        stored = None if file is None else (file["name"], b64decode(file["base64"]))
        return message_view(self._sim.say(channel, text, user=user, thread=thread, raw=raw, file=stored))

    def do_mention(
        self, channel: str, text: str, user: str | None = None, thread: str | None = None
    ) -> dict[str, Any]:
        return message_view(self._sim.mention(channel, text, user=user, thread=thread))

    def do_edit(self, channel: str, ts: str, text: str) -> dict[str, Any]:
        message = self._message(channel, ts)
        self._sim.edit(message, text)
        return message_view(message)

    def do_delete(self, channel: str, ts: str) -> None:
        self._sim.delete(self._message(channel, ts))

    def do_press(
        self, channel: str, ts: str, button: int | str | None = None, value: str = "", user: str | None = None
    ) -> dict[str, Any]:
        message = self._message(channel, ts)
        if button is None:
            return press_view(self._sim.press_value(message, value, user))
        return press_view(self._sim.press(message, button, user))

    def do_command(
        self, channel: str, text: str = "", name: str = "/parley", user: str | None = None
    ) -> dict[str, Any]:
        command = self._sim.command(channel, text, name=name, user=user)
        return {"id": command.trigger_id}

    def do_messages(self, channel: str, after: str = "0", thread: str | None = None) -> list[dict[str, Any]]:
        shown = self._sim.messages(channel, thread)
        return [message_view(one) for one in shown if float(one.ts) > float(after)]

    def do_ephemerals(self, channel: str) -> list[dict[str, Any]]:
        return [{"user": one.user, "text": one.text} for one in self._sim.ephemerals(channel)]

    def do_statuses(self, channel: str) -> list[list[str]]:
        return [list(one) for one in self._sim.channel(channel).statuses]

    def do_counters(self) -> dict[str, Any]:
        deliveries = self._sim.deliveries
        return {
            **super().do_counters(),
            "pings": dict(self._sim.pings),
            "acknowledged": deliveries.acknowledged,
            "repeated": deliveries.repeated,
            "given_up": deliveries.given_up,
            "unacknowledged": len(deliveries.open),
            "sockets": len(self._sim.sockets.of(self._sim.account)),
        }

    def do_bar(self, channel: str, error: str = "is_archived") -> None:
        self._sim.people.bar(self._sim.channel(channel), error)

    def do_unbar(self, channel: str) -> None:
        self._sim.people.unbar(self._sim.channel(channel))

    def do_disconnect(self, reason: str = "warning") -> None:
        self._sim.disconnect(reason)  # type: ignore[arg-type]

    def do_close_leaving(self) -> None:
        self._sim.close_leaving()

    def do_cut_sockets(self) -> None:
        self._sim.cut_sockets()

    def do_expire(self) -> int:
        return self._sim.deliveries.expire()

    async def do_use_http(self, url: str) -> None:
        await self._sim.use_http(url)

    async def do_wait(
        self,
        channel: str | None = None,
        replies: int = 0,
        text: str = "",
        method: str = "",
        calls: int = 1,
        sockets: int | None = None,
        timeout_s: float = 10,
    ) -> Any:
        """Wait for replies in a channel (that many, one with `text`), calls of a method, or open sockets."""
        sim = self._sim
        if method:
            return await self._calls_made(method, calls, timeout_s)
        if sockets is not None:
            await sim.wait_for(lambda: len(sim.sockets.of(sim.account)) == sockets, timeout_s)
            return sockets
        if channel is None:
            raise ValueError("wait for what? give channel, method or sockets")
        return await self._shown(channel, replies, text, timeout_s)

    def _message(self, channel: str, ts: str) -> Message:
        return self._sim.channel(channel).messages[ts]


def message_view(message: Message) -> dict[str, Any]:
    """A message as JSON for tests: as shown, with earlier texts."""
    return {
        "channel": message.channel.id,
        "ts": message.ts,
        "from": message.user.id,
        "is_bot": message.user.is_bot,
        "shown": message.shown,
        "text": message.text,
        "blocks": list(message.blocks),
        "buttons": [{"text": one["text"]["text"], "value": one.get("value", "")} for one in message.buttons],
        "thread": message.thread_ts,
        "earlier": message.texts()[:-1],
        "pings": list(message.pings),
        "metadata": message.metadata,
        "is_streaming": message.is_streaming,
        "reactions": list(message.reactions),
        "files": [file.name for file in message.files],
        "at_s": message.at_s,
    }


def press_view(press: Press) -> dict[str, Any]:
    """A press as JSON for tests."""
    return {"id": press.trigger_id, "value": press.action.get("value"), "answers": list(press.answers)}
