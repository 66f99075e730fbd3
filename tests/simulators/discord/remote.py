"""The control actions over HTTP, for tests whose bot runs in another process.

Channels, users, messages go by their ids; a user's id as `chat` means the direct channel.

    POST /sim/say      {"chat": 123, "text": "hello"}                     → the message
    POST /sim/wait     {"chat": 123, "replies": 1, "timeout_s": 10}       → the bots' messages in that channel
    POST /sim/press    {"chat": 123, "message_id": 7, "button": "Once"}   → the interaction
    POST /sim/fault    {"kind": "refuse", "status": 429, "retry_after_s": 2, "method": "createMessage"}
    POST /sim/counters {}                                                 → calls, refusals, violations

`GET /sim` lists all with their arguments.
"""

from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..remote import RemoteActions
from .records import Interaction, Message, User

if TYPE_CHECKING:
    from .simulator import DiscordSimulator


def remote_actions(sim: "DiscordSimulator") -> dict[str, Callable[..., Any]]:
    """The actions by name."""
    return _Remote(sim).by_name()


class _Remote(RemoteActions):
    def view(self, message: Message) -> dict[str, Any]:
        return message_view(message)

    def _member(self, user_id: int) -> User:
        return self._sim.world.users.get(user_id) or self._sim.add_user(user_id)

    def do_bot(self) -> dict[str, Any]:
        sim = self._sim
        return {
            "token": sim.token,
            "id": sim.bot_id,
            "api_base": sim.api_base,
            "gateway_url": sim.gateway_url,
        }

    def do_user(self, user: int, name: str = "") -> int:
        """Make a person; returns the id of the direct channel with the first bot."""
        return self._sim.channel(self._sim.add_user(user, name)).id

    def do_guild(self, name: str, members: list[int]) -> dict[str, int]:
        guild = self._sim.add_guild(name, [self._member(one) for one in members])
        return {"guild": guild.id, "channel": next(iter(guild.channels))}

    def do_channel(self, guild: int, name: str) -> int:
        return self._sim.add_channel(self._sim.world.guilds[guild], name).id

    def do_thread(self, channel: int, name: str, owner: int | None = None) -> int:
        owned = None if owner is None else self._sim.user(owner)
        return self._sim.add_thread(self._sim.channel(channel), name, owned).id

    def do_say(
        self,
        chat: int,
        text: str,
        user: int | None = None,
        reply_to: int | None = None,
        file: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        channel = self._sim.channel(chat)
        if user is not None:
            self._member(user)
        message = self._sim.say(
            channel,
            text,
            user=user,
            reply_to=None if reply_to is None else channel.messages[reply_to],
            file=None if file is None else (file["name"], file["mime"], b64decode(file["base64"])),
        )
        return message_view(message)

    def do_edit(self, chat: int, message_id: int, text: str) -> dict[str, Any]:
        message = self._sim.channel(chat).messages[message_id]
        self._sim.edit(message, text)
        return message_view(message)

    def do_delete(self, chat: int, message_id: int) -> None:
        self._sim.delete(self._sim.channel(chat).messages[message_id])

    def do_press(
        self,
        chat: int,
        message_id: int,
        button: int | str | None = None,
        custom_id: str = "",
        user: int | None = None,
    ) -> dict[str, Any]:
        message = self._sim.channel(chat).messages[message_id]
        if button is None:
            return interaction_view(self._sim.press_id(message, custom_id, user))
        return interaction_view(self._sim.press(message, button, user))

    def do_command(
        self, chat: int, name: str, user: int | None = None, options: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return interaction_view(self._sim.command(chat, name, user, **(options or {})))

    def do_interaction(self, token: str) -> dict[str, Any]:
        return interaction_view(self._sim.world.interactions[token])

    def do_messages(self, chat: int, after: int = 0) -> list[dict[str, Any]]:
        return [message_view(one) for one in self._sim.messages(chat) if one.id > after]

    def do_counters(self) -> dict[str, Any]:
        sim = self._sim
        return {
            **super().do_counters(),
            "connections": sim.gateway.connections,
            "identified_times": sim.gateway.identified_times,
            "sessions": len(sim.world.sessions),
        }

    def do_limit(self, method: str, count: int, per_s: float) -> None:
        self._sim.limits.narrow(method, count, per_s)

    def do_block(self, chat: int, blocked: bool = True) -> None:
        self._sim.channel(chat).is_blocked = blocked

    def do_gateway(self, event: str, code: int = 4000, times: int = 1) -> None:
        """Events: reconnect, invalidate, interrupt, close, stall, forget, refuse_resume, refuse_handshake."""
        gateway = self._sim.gateway
        match event:
            case "reconnect":
                gateway.ask_to_reconnect()
            case "invalidate":
                gateway.invalidate()
            case "interrupt":
                gateway.interrupt()
            case "close":
                gateway.close(code)
            case "stall":
                gateway.stall()
            case "forget":
                self._sim.world.sessions.clear()
            case "refuse_resume":
                gateway.refused_resumes = times
            case "refuse_handshake":
                gateway.refused_handshakes = times
            case _:
                raise ValueError(f"unknown gateway event {event!r}")

    async def do_wait(
        self,
        chat: int | None = None,
        replies: int = 0,
        text: str = "",
        method: str = "",
        calls: int = 1,
        interaction: str = "",
        timeout_s: float = 10,
    ) -> Any:
        """Wait for replies in a channel (that many, one with `text`), calls of a method, or a response."""
        sim = self._sim
        if interaction:
            wanted = sim.world.interactions[interaction]
            await sim.wait_for(lambda: wanted.answered_at_s, timeout_s)
            return interaction_view(wanted)
        if method:
            return await self._calls_made(method, calls, timeout_s)
        if chat is None:
            raise ValueError("wait for what? give chat, method or interaction")
        return await self._shown(chat, replies, text, timeout_s)


def message_view(message: Message) -> dict[str, Any]:
    """A message as JSON for tests: as shown, with earlier texts and who was notified."""
    return {
        "channel": message.channel.id,
        "message_id": message.id,
        "from": message.author.id,
        "is_bot": message.author.is_bot,
        "text": message.text,
        "buttons": [
            [{"label": button.label, "custom_id": button.custom_id, "style": button.style} for button in row]
            for row in message.rows
        ],
        "reply_to": None if message.reference is None else message.reference.id,
        "earlier": list(message.earlier),
        "pings": list(message.pings),
        "files": [file.name for file in message.files],
        "reactions": list(message.reactions),
        "flags": message.flags,
        "at_s": message.at_s,
    }


def interaction_view(interaction: Interaction) -> dict[str, Any]:
    """An interaction as JSON for tests."""
    return {
        "id": interaction.id,
        "token": interaction.token,
        "callback": interaction.callback,
        "is_answered": interaction.answered_at_s is not None,
        "answered_after_s": None
        if interaction.answered_at_s is None
        else interaction.answered_at_s - interaction.at_s,
        "told": list(interaction.told),
    }
