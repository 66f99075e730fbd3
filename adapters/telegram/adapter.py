"""One Telegram bot: long polling in, messages out.

Updates are stored first and confirmed after: the next poll's offset moves only when `Inbox.receive` has
returned. Polling has a connection of its own, sending a pool; that pool lives as long as `run` or any request
uses it, so that a poll that fails tears no answer from the wire.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog
from telegram import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)
from telegram.constants import ChatAction, KeyboardButtonStyle
from telegram.error import TelegramError

from adapters.commands import COMMANDS
from adapters.telegram.bot import QuietBot
from adapters.telegram.checks import findings, refused
from adapters.telegram.errors import is_refused_token, is_unmodified, sending, to_adapter_error
from adapters.telegram.parse import GENERAL_TOPIC, Identity
from adapters.telegram.polling import keep_polling
from adapters.telegram.reception import Reception
from adapters.telegram.render import MAX_CAPTION, MAX_TEXT, Entity, measure, render
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.transport import AiohttpRequest
from adapters.telegram.webhook import Webhook
from gateway.adapter import Capabilities, Checkup, Finding, Inbox, Reaction
from gateway.errors import AccessRefused, FileTooLarge, MessageRejected, NotSent, ParleyError
from gateway.messages import Attachment, OutboundMessage, Receipt, Target

EDIT_GAP_S = 1.0
"""About one a second in one chat: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits (2026)."""

GROUP_EDIT_GAP_S = 3.5
"""A group takes 20 messages a minute (same page), and edits count: 17 leave room for the answer's own rows."""

FILE_LIMIT_BYTES = 50_000_000
"""What a bot may send as a file: https://core.telegram.org/bots/api#senddocument (2026)."""

TYPING_GAP_S = 4.5
"""A typing mark fades after five seconds (Bot API, sendChatAction, 2026)."""

_STYLES = {
    "plain": None,
    "good": KeyboardButtonStyle.SUCCESS,
    "danger": KeyboardButtonStyle.DANGER,
}

# ✅ and ❌ are not among what a bot may react with (Bot API, ReactionTypeEmoji, 2026).
_REACTIONS: Mapping[Reaction, str] = {"seen": "👀", "done": "👍", "failed": "👎"}

_log = structlog.get_logger(__name__)


class TelegramAdapter:
    """One bot; see `gateway.adapter.Adapter`."""

    platform = "telegram"

    def __init__(self, settings: TelegramSettings, api: object = None) -> None:
        """Nothing is connected before `run` or a request; `api` is not used."""
        del api
        token = settings.token.get_secret_value() if settings.token else ""
        self._settings = settings
        self._sending = self._request(settings.connections, settings.send_timeout_s)
        self._polling = self._request(1, settings.poll_timeout_s + settings.poll_margin_s)
        self._users = 0
        self.port: int | None = None  # where webhook mode listens, while it does
        self._has_drafts = True
        self._has_menu = False
        self._bot = QuietBot(token, api_base=settings.api_base, sending=self._sending, polling=self._polling)

    @property
    def account(self) -> str:
        """The bot's id, the first part of its token."""
        return self._settings.account

    @property
    def seat(self) -> str:
        """The bot at its server: Telegram has a second poll end the first, and hands every update to one of them."""
        token = self._settings.token.get_secret_value() if self._settings.token else ""
        return f"{self._settings.api_base} {token}" if token else ""

    @property
    def capabilities(self) -> Capabilities:
        """Messages of 4096 units with entities, buttons and topics; an unknown outcome cannot be settled."""
        return Capabilities(
            measure=measure,
            limit=MAX_TEXT,
            input_limit=MAX_TEXT,
            edit_limit=MAX_TEXT,
            markup="entities",
            buttons=True,
            threads=True,
            edit_gap_s=EDIT_GAP_S,
            edit_gap_of=_edit_gap_s,
            streaming=self._settings.streaming,
            typing_gap_s=TYPING_GAP_S,
            file_limit_bytes=FILE_LIMIT_BYTES,
            caption_limit=MAX_CAPTION,
        )

    async def run(self, inbox: Inbox) -> None:
        """Serve, by poll or by webhook, until cancelled."""
        if not self.account:
            raise AccessRefused("telegram.token is no bot's token: those read 123456789:AA… (ask @BotFather)")
        failure: ParleyError | None = None
        async with self._connected(), asyncio.TaskGroup() as answers:
            await self._polling.initialize()
            try:
                await self._serve(inbox, answers)
            except TelegramError as error:
                failure = to_adapter_error(error, self.account, self._settings.api_base)
            except ParleyError as error:  # raised below: as itself, not inside a group
                failure = error
            finally:
                await self._polling.shutdown()
        if failure:
            raise failure

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one message; a reply whose target is gone goes out without it."""
        target = message.target
        async with self._connected():
            sent = await sending(
                self._bot.send_message(
                    chat_id=_chat_id(target),
                    message_thread_id=_topic(target),
                    reply_parameters=_reply_to(message),
                    **_content(message),
                )
            )
        return Receipt(message_id=str(sent.message_id))

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Send a document, whatever is in it: as a photo Telegram would make a picture smaller."""
        assert message.file is not None
        target, shown = message.target, _content(message)
        async with self._connected():
            sent = await sending(
                self._bot.send_document(
                    chat_id=_chat_id(target),
                    document=message.file.data,
                    filename=message.file.name,
                    caption=shown["text"] or None,
                    caption_entities=shown["entities"],
                    message_thread_id=_topic(target),
                    reply_parameters=_reply_to(message),
                )
            )
        return Receipt(message_id=str(sent.message_id))

    async def fetch(self, attachment: Attachment, limit_bytes: int) -> bytes:
        """Download a file; Telegram itself gives bots none of more than 20 MB."""
        async with self._connected():
            file = await sending(self._bot.get_file(attachment.ref))
            if (file.file_size or 0) > limit_bytes:
                raise FileTooLarge(f"larger than {limit_bytes:,} bytes")
            data = await sending(file.download_as_bytearray())
        if len(data) > limit_bytes:
            raise FileTooLarge(f"larger than {limit_bytes:,} bytes")
        return bytes(data)

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Replace text and buttons; that it stands so already is no error."""
        async with self._connected():
            try:
                await sending(
                    self._bot.edit_message_text(
                        chat_id=_chat_id(message.target), message_id=int(message_id), **_content(message)
                    )
                )
            except MessageRejected as error:
                if not is_unmodified(error):
                    raise

    async def stream(self, stream_id: int, message: OutboundMessage) -> None:
        """Show a draft: in private chats only, and not by a local server older than Bot API 9.3."""
        target = message.target
        if not self._has_drafts or _chat_id(target) < 0:
            raise MessageRejected("there are drafts in private chats only")
        shown = _content(message)
        async with self._connected():
            try:
                await sending(
                    self._bot.send_message_draft(
                        chat_id=_chat_id(target),
                        draft_id=stream_id,
                        message_thread_id=_topic(target),
                        text=shown["text"],
                        entities=shown["entities"],
                    )
                )
            except NotSent as error:
                # A method that a server does not know is answered as a wrong token is.
                self._has_drafts = not is_refused_token(error)
                raise

    async def react(self, target: Target, message_id: str, reaction: Reaction) -> None:
        """Put the one reaction a bot has on a message."""
        async with self._connected():
            await sending(
                self._bot.set_message_reaction(
                    chat_id=_chat_id(target), message_id=int(message_id), reaction=_REACTIONS[reaction]
                )
            )

    async def show_typing(self, target: Target) -> None:
        """Show "typing…" for five seconds; here the General topic is named."""
        async with self._connected():
            try:
                await self._bot.send_chat_action(
                    chat_id=_chat_id(target),
                    action=ChatAction.TYPING,
                    message_thread_id=_number(target.thread_id),
                )
            except TelegramError as error:
                _log.debug("telegram.typing_failed", account=self.account, reason=error.message)

    async def check(self) -> Checkup:
        """Ask for the bot and its webhook; polls nothing, so that a daemon's poll is not disturbed."""
        async with self._connected():
            try:
                me = await self._bot.get_me()
                webhook = await self._bot.get_webhook_info()
                menu = await self._bot.get_my_commands()
            except TelegramError as error:
                refusal = to_adapter_error(error, self.account, self._settings.api_base)
                found: tuple[Finding, ...] = (refused(refusal, self._settings),)
            else:
                found = findings(me, webhook, menu, self._settings)
            return Checkup(findings=found, server_date=self._sending.server_date)

    async def _serve(self, inbox: Inbox, answers: asyncio.TaskGroup) -> None:
        me = await self._bot.get_me()
        identity = Identity(id=str(me.id), username=me.username or "")
        reception = Reception(self._bot, identity, inbox, answers)
        if not self._has_menu:
            answers.create_task(self._offer_commands())
        if self._settings.mode == "webhook":
            webhook = Webhook(self._bot, reception, self._settings)
            async with webhook.listen() as self.port:
                await webhook.keep(inbox.online)
        inbox.online()
        await keep_polling(
            self._bot, reception, timeout_s=self._settings.poll_timeout_s, account=self.account
        )

    async def _offer_commands(self) -> None:
        """Let Telegram know the menu of commands; without it, they can still be typed."""
        menu = [(command.name, command.description) for command in COMMANDS]
        try:
            if self._settings.commands:
                await self._bot.set_my_commands(menu)
            else:
                await self._bot.delete_my_commands()
        except TelegramError as error:
            _log.warning("telegram.commands_not_registered", account=self.account, reason=error.message)
        else:
            self._has_menu = True

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        """The sending pool, open as long as anyone is inside."""
        self._users += 1
        try:
            await self._sending.initialize()
            yield
        finally:
            self._users -= 1
            if not self._users:
                await self._sending.shutdown()

    def _request(self, connections: int, read_timeout_s: float) -> AiohttpRequest:
        return AiohttpRequest(
            connections=connections,
            connect_timeout_s=self._settings.connect_timeout_s,
            read_timeout_s=read_timeout_s,
            queue_timeout_s=self._settings.queue_timeout_s,
        )


def _edit_gap_s(target: Target) -> float:
    """Groups and channels have negative ids."""
    return GROUP_EDIT_GAP_S if target.chat_id.startswith("-") else EDIT_GAP_S


def _content(message: OutboundMessage) -> dict[str, Any]:
    """Text, formatting, buttons and the rest that sending and editing have in common."""
    shown = render(message.body)
    rows = [
        [
            InlineKeyboardButton(button.label, callback_data=button.token, style=_STYLES[button.style])
            for button in row
        ]
        for row in message.buttons
    ]
    return {
        "text": shown.text,
        "entities": None if message.plain else [_entity(entity) for entity in shown.entities],
        "reply_markup": InlineKeyboardMarkup(rows) if rows else None,
        # A card is read for what it says; an address in a tool's arguments is not to be fetched and shown.
        "link_preview_options": LinkPreviewOptions(is_disabled=True) if rows else None,
    }


def _entity(entity: Entity) -> MessageEntity:
    return MessageEntity(
        type=entity.type,
        offset=entity.offset,
        length=entity.length,
        url=entity.url or None,
        language=entity.language or None,
    )


def _reply_to(message: OutboundMessage) -> ReplyParameters | None:
    if message.reply_to is None:
        return None
    return ReplyParameters(message_id=int(message.reply_to), allow_sending_without_reply=True)


def _topic(target: Target) -> int | None:
    """The topic to send to; Telegram refuses the General topic's id here ("message thread not found")."""
    return None if target.thread_id == GENERAL_TOPIC else _number(target.thread_id)


def _chat_id(target: Target) -> int:
    try:
        return int(target.chat_id)
    except ValueError:
        raise MessageRejected(f"{target.chat_id} is no Telegram chat; its id is a number") from None


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
