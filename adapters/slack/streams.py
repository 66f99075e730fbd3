"""Messages that grow by Slack's own streaming: `chat.startStream`, `appendStream`, `stopStream`.

A stream stands in a thread and in a channel names its reader (docs.slack.dev/reference/methods/chat.startStream,
2026). It can only be added to; once it has ended it is a message that `chat.update` changes. So whoever wants it to
say something else, or all of it for good, ends it and edits it. A key can be set only at the end: a stream whose
beginning was not heard of is known by having none, and by its words.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.content import authorship, key_in, metadata
from adapters.slack.errors import send_errors
from adapters.slack.markdown import settled
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown
from gateway.messages import OutboundMessage, Receipt

IS_STREAMING = "streaming_state_conflict"
"""What `chat.update` answers as long as a stream is open."""

_HAS_ENDED = "message_not_in_streaming_state"
_KEPT = 1_000
_COMPARED = 60  # letters of a beginning

_log = structlog.get_logger(__name__)


class Streams:
    """See the module; it knows what this process began."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._is_offered = True
        self._written: OrderedDict[str, str | None] = OrderedDict()  # None: nobody knows what it says

    def may_begin(self, message: OutboundMessage) -> bool:
        """Whether it can grow natively: in threads, and where the workspace has it."""
        target = message.target
        has_reader = target.chat_id.startswith("D") or message.reader_id is not None
        is_possible = message.growing and not message.plain and has_reader
        return is_possible and self._is_offered and target.thread_id is not None

    async def begin(self, message: OutboundMessage, team: str) -> Receipt | None:
        """Begin a message that grows; None where Slack lets none grow, so that it is sent as any other.

        Raises:
            SendError: as for `Adapter.send`, but not `MessageRejected`.
        """
        markdown = settled(message.body)
        try:
            with send_errors():
                started = await self._client.chat_startStream(
                    channel=message.target.chat_id,
                    thread_ts=message.target.thread_id or "",
                    markdown_text=markdown or None,
                    recipient_user_id=message.reader_id,
                    recipient_team_id=team if message.reader_id else None,
                    **authorship(message),
                )
        except MessageRejected as error:
            self._is_offered = False  # not in this workspace, or not to this app: edits do as well
            _log.info("slack.no_streams", reason=str(error))
            return None
        except NotSent:  # this method may be barred where posting is not; if it is not that, posting says so
            return None
        self._written[str(started["ts"])] = markdown
        while len(self._written) > _KEPT:
            self._written.popitem(last=False)
        return Receipt(message_id=str(started["ts"]))

    async def add(self, message_id: str, message: OutboundMessage) -> bool:
        """Add what a growing message says by now; False if it has to be edited instead.

        Raises:
            SendError: as for `Adapter.edit`.
        """
        written, markdown = self._written.get(message_id), settled(message.body)
        if written is None or message.plain:
            return False
        if written.startswith(
            markdown
        ):  # what is new may yet be read otherwise, and is shown with what follows
            return True
        if not markdown.startswith(written):
            return False
        try:
            with send_errors():
                await self._client.chat_appendStream(
                    channel=message.target.chat_id, ts=message_id, markdown_text=markdown[len(written) :]
                )
        except OutcomeUnknown:
            self._written[message_id] = None
            raise
        except MessageRejected as error:
            if str(error) != _HAS_ENDED:
                raise
            return False
        self._written[message_id] = markdown
        return True

    def holds(self, message_id: str) -> bool:
        """Whether it was begun here and not ended."""
        return message_id in self._written

    async def end(self, message_id: str, message: OutboundMessage) -> None:
        """End it, so that it can be edited; that it has ended is no error."""
        try:
            with send_errors():
                await self._client.chat_stopStream(
                    channel=message.target.chat_id, ts=message_id, **metadata(message)
                )
        except MessageRejected as error:
            if str(error) != _HAS_ENDED:
                raise
        self._written.pop(message_id, None)

    def is_lost_beginning(self, found: Mapping[str, Any], message: OutboundMessage, bot: str) -> bool:
        """Whether a message in the thread is the one that `begin` may have begun without hearing of it."""
        begins = _letters([settled(message.body)])
        if not begins or found.get("user") != bot or key_in(found) or str(found["ts"]) in self._written:
            return False
        return _letters(_texts(found.get("blocks") or found.get("text"))).startswith(begins[:_COMPARED])


def _texts(shown: Any) -> Iterator[str]:
    """All texts in blocks, in order."""
    match shown:
        case str():
            yield shown
        case list():
            for one in shown:
                yield from _texts(one)
        case dict():
            for name in ("text", "elements"):
                yield from _texts(shown.get(name))
        case _:
            pass


def _letters(texts: Any) -> str:
    return "".join(character for text in texts for character in text if character.isalnum())
