"""The table of Web API methods the simulator knows, each with the scope it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import apps, posting, reading, streaming
from .params import Params
from .world import Account, World

Handler = Callable[[World, Account, Params, float], dict[str, Any]]
"""World, app, parameters, monotonic time of the request → the result beside `ok`. Raises `ApiError`."""


@dataclass(frozen=True, slots=True)
class Method:
    """What answers a method, and what the token must be allowed."""

    handler: Handler
    scope: str | None = None
    by_app_token: bool = False


METHODS: Mapping[str, Method] = {
    "auth.test": Method(apps.auth_test),
    "apps.connections.open": Method(apps.open_connection, by_app_token=True),
    "chat.postMessage": Method(posting.post_message, "chat:write"),
    "chat.postEphemeral": Method(posting.post_ephemeral, "chat:write"),
    "chat.update": Method(posting.update, "chat:write"),
    "chat.delete": Method(posting.delete, "chat:write"),
    "chat.startStream": Method(streaming.start_stream, "chat:write"),
    "chat.appendStream": Method(streaming.append_stream, "chat:write"),
    "chat.stopStream": Method(streaming.stop_stream, "chat:write"),
    "conversations.history": Method(reading.history),  # the scope depends on the channel
    "conversations.replies": Method(reading.replies),
    "conversations.info": Method(reading.info, "channels:read"),
    "conversations.open": Method(reading.open_conversation, "im:write"),
    "users.info": Method(reading.users_info, "users:read"),
    "reactions.add": Method(apps.add_reaction, "reactions:write"),
    "reactions.remove": Method(apps.remove_reaction, "reactions:write"),
    "assistant.threads.setStatus": Method(apps.set_status, "assistant:write"),
    "files.getUploadURLExternal": Method(apps.upload_url, "files:write"),
    "files.completeUploadExternal": Method(apps.complete_upload, "files:write"),
}
