"""What people do in the simulated workspace.

Write, edit, press, enter commands. Apps hear of it through their deliveries.
"""

from uuid import UUID

from .deliveries import Kind
from .markup import typed
from .payloads import command_form, joined_event, plain_of, press_json, rich_text
from .records import Channel, ChannelKind, Command, Message, Press, StoredFile, User
from .world import TEAM, Account, World

_MIMES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "txt": "text/plain",
    "pdf": "application/pdf",
    "mp3": "audio/mpeg",
}


class People:
    """Users and their doings in one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def add_user(self, user_id: str | None = None, name: str = "", team: str = TEAM) -> User:
        """Make a person."""
        user_id = user_id or f"U{next(self._world.ids):08d}"
        name = name or f"User {user_id}"
        user = User(id=user_id, team=team, name=name, handle=name.lower().replace(" ", "."))
        self._world.users[user_id] = user
        return user

    def add_channel(
        self,
        name: str,
        members: list[User],
        kind: ChannelKind = "channel",
        channel_id: str | None = None,
        *,
        with_bots: bool = True,
    ) -> Channel:
        """Make a channel; every bot there is so far is invited, unless `with_bots` is False."""
        channel = Channel(
            id=channel_id or f"C{next(self._world.ids):08d}",
            kind=kind,
            name=name,
            members={user.id: user for user in members},
            bots={account.user.id for account in self._world.accounts.values()} if with_bots else set(),
        )
        self._world.channels[channel.id] = channel
        return channel

    def join(self, channel: Channel, user: User) -> None:
        """Enter a channel, which is told as a message that nobody wrote."""
        channel.members[user.id] = user
        for account in self._world.hearers(channel):
            self._world.send_event(account, joined_event(channel, user, self._world.new_ts()))

    def say(
        self,
        channel: Channel,
        text: str,
        *,
        user: User,
        thread: Message | str | None = None,
        raw: str | None = None,
        file: tuple[str, bytes] | None = None,
        is_broadcast: bool = False,
    ) -> Message:
        """Post a person's message.

        Args:
            channel: Where.
            text: What was typed; entities and emoji names are made as Slack's clients make them.
            user: Who.
            thread: The message (or its ts) below which it stands.
            raw: Put before the text as it is: mentions and other tokens.
            file: Name and bytes of a file.
            is_broadcast: A reply that is also sent to the channel.
        """
        root = thread.thread_ts or thread.ts if isinstance(thread, Message) else thread
        written, emoji = typed(text)
        stored = self._store(file, user) if file else None
        subtype = "file_share" if stored else "thread_broadcast" if is_broadcast else None
        return self._world.post(
            channel,
            user,
            self._world.recorder.clock(),
            text=(raw or "") + written,
            blocks=rich_text(plain_of(text), list(emoji)) if text else (),
            thread_ts=root,
            is_broadcast=is_broadcast,
            subtype=subtype,
            client_msg_id=str(UUID(int=next(self._world.ids))),
            files=(stored,) if stored else (),
        )

    def edit(self, message: Message, text: str, raw: str | None = None) -> None:
        """Change a person's message."""
        written, emoji = typed(text)
        blocks = rich_text(plain_of(text), list(emoji))
        self._world.change(message, text=(raw or "") + written, blocks=blocks)

    def unfurl(self, message: Message) -> None:
        """Let Slack add a link's preview: a change without an edit."""
        self._world.change(message, is_marked=False)

    def delete(self, message: Message) -> None:
        """Delete a message."""
        self._world.remove(message)

    def press(self, message: Message, action: dict[str, object], user: User) -> Press:
        """Press a button, also one shown no more; the message's own app hears it."""
        account = self._account_of(message)
        press = Press(
            trigger_id=self._trigger(),
            message=message,
            action={"type": "button", "block_id": "b1", "action_ts": self._world.new_ts(), **action},
            user=user,
            at_s=self._world.recorder.clock(),
        )
        self._world.presses[press.trigger_id] = press
        payload = press_json(
            press,
            app_id=account.app_id,
            url=self._world.url,
            response_url=self._response_url(press.trigger_id),
        )
        self._send(account, "interactive", payload)
        return press

    def command(self, account: Account, channel: Channel, name: str, text: str, user: User) -> Command:
        """Enter a slash command; it works in channels the bot is not in."""
        command = Command(
            trigger_id=self._trigger(),
            channel=channel,
            name=name,
            text=text,
            user=user,
            at_s=self._world.recorder.clock(),
        )
        self._world.commands[command.trigger_id] = command
        url = self._response_url(command.trigger_id)
        self._send(
            account, "slash_commands", dict(command_form(command, app_id=account.app_id, response_url=url))
        )
        return command

    def bar(self, channel: Channel, error: str = "is_archived") -> None:
        """Make every post to a channel fail with this error."""
        channel.barred = error
        self._world.changes.notify()

    def unbar(self, channel: Channel) -> None:
        """Undo `bar`."""
        channel.barred = None
        self._world.changes.notify()

    def remove_bot(self, channel: Channel, account: Account) -> None:
        """Take a bot out of a channel."""
        channel.bots.discard(account.user.id)

    def _send(self, account: Account, kind: Kind, payload: dict[str, object]) -> None:
        self._world.send(account, kind, payload)

    def _account_of(self, message: Message) -> Account:
        return next(one for one in self._world.accounts.values() if one.user.id == message.user.id)

    def _trigger(self) -> str:
        return f"{next(self._world.ids)}.{self._world.now()}.sim"

    def _response_url(self, trigger_id: str) -> str:
        return f"{self._world.url}/response/{trigger_id}"

    def _store(self, file: tuple[str, bytes], user: User) -> StoredFile:
        name, content = file
        mime = _MIMES.get(name.rpartition(".")[2], "application/octet-stream")
        stored = StoredFile(
            id=f"F{next(self._world.ids):08d}", name=name, mime=mime, content=content, user=user.id
        )
        self._world.files[stored.id] = stored
        return stored


def find_button(message: Message, wanted: int | str) -> dict[str, object]:
    """The action of a shown button, as a press carries it.

    Args:
        message: Where it is shown.
        wanted: Its number, from 0, or its text: the exact one, else the only one containing it.

    Raises:
        LookupError: No such button, or several.
    """
    buttons = message.buttons
    labels = [str(button["text"]["text"]) for button in buttons]
    if isinstance(wanted, int):
        found = list(buttons[wanted : wanted + 1])
    else:
        places = [place for place, label in enumerate(labels) if label == wanted] or [
            place for place, label in enumerate(labels) if wanted in label
        ]
        found = [buttons[place] for place in places]
    if len(found) != 1:
        raise LookupError(f"no button {wanted!r} among {labels}")
    return {name: found[0][name] for name in ("action_id", "value", "text", "style") if name in found[0]}
