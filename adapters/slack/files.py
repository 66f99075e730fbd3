"""Files on their way to Slack: an address is asked for, the bytes go there, and then they are shown.

https://docs.slack.dev/messaging/working-with-files (read 2026). Nothing is seen before the last step, so whatever
breaks before it can be tried again.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.content import comment
from adapters.slack.errors import CLIENT_ERRORS, error_code, to_send_error
from adapters.slack.mrkdwn import MAX_SECTION
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, SendError
from gateway.messages import OutboundFile, OutboundMessage

FILE_LIMIT_BYTES: Final = 50_000_000
"""Slack takes a gigabyte; what we send passes through memory and the store."""

COMMENT_LIMIT: Final = MAX_SECTION


async def upload(client: AsyncWebClient, session: aiohttp.ClientSession, message: OutboundMessage) -> str:
    """Bring the file to Slack, unseen; returns its id.

    Raises:
        SendError: `NotSent` for what may be tried again; `MessageRejected` also where the scope is missing.
    """
    assert message.file is not None
    failure: SendError
    try:
        place = await client.files_getUploadURLExternal(
            filename=message.file.name, length=len(message.file.data)
        )
        async with session.post(
            place["upload_url"],
            data=message.file.data,
            headers={"Content-Type": "application/octet-stream"},
            proxy=client.proxy,
        ) as answer:
            if answer.status == 200:
                return str(place["file_id"])
            failure = NotSent(f"the upload was answered with {answer.status}")
    except CLIENT_ERRORS as error:
        failure = _before_sharing(error)
    raise failure  # outside the handler: a response carries the request, the token included


async def share(client: AsyncWebClient, message: OutboundMessage, file_id: str) -> None:
    """Show an uploaded file in its channel or thread, with the caption."""
    assert message.file is not None
    await client.files_completeUploadExternal(
        files=[{"id": file_id, "title": message.file.name}],
        channel_id=message.target.chat_id,
        thread_ts=message.target.thread_id,
        initial_comment=comment(message) or None,
    )


def is_message_of(
    file: OutboundFile, file_id: str | None, bot_id: str
) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a message shows the file: by its id, or after a restart one of ours with its name and size."""

    def is_it(shown: Mapping[str, Any]) -> bool:
        if shown.get("user") != bot_id:
            return False
        return any(
            one.get("id") == file_id
            if file_id is not None
            else (one.get("name"), one.get("size")) == (file.name, len(file.data))
            for one in shown.get("files") or ()
        )

    return is_it


def _before_sharing(error: Exception) -> SendError:
    """What a failed upload says of the message, which nobody can have seen."""
    if isinstance(error, SlackApiError) and error_code(error) == "missing_scope":
        return MessageRejected("missing_scope: files:write")
    failure = to_send_error(error)
    return NotSent(str(failure)) if isinstance(failure, OutcomeUnknown) else failure
