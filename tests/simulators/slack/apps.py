"""The Web API methods about the app itself and what is beside messages: reactions, status, files."""

from typing import Any
from uuid import UUID

from .errors import ApiError
from .params import Params
from .payloads import file_json
from .records import StoredFile
from .world import Account, World

Json = dict[str, Any]

FILE_LIMIT_BYTES = 1_000_000_000  # https://slack.com/help/articles/201330736 (read 2026): one gigabyte


def auth_test(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`auth.test`."""
    user = account.user
    return {
        "url": "https://sim.slack.com/",
        "team": "Simulated",
        "user": user.handle,
        "team_id": user.team,
        "user_id": user.id,
        "bot_id": user.bot_id,
        "is_enterprise_install": False,
    }


def open_connection(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`apps.connections.open`: an address with a ticket that opens one socket."""
    ticket = str(UUID(int=next(world.ids)))
    account.tickets.add(ticket)
    address = world.url.replace("http", "ws", 1)
    return {"url": f"{address}/link/?ticket={ticket}&app_id={account.app_id}"}


def add_reaction(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`reactions.add`."""
    reactions = _reactions(world, account, params)
    if params.required("name") in reactions:
        raise ApiError("already_reacted")
    reactions.append(params.text("name"))
    return {}


def remove_reaction(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`reactions.remove`."""
    reactions = _reactions(world, account, params)
    if params.required("name") not in reactions:
        raise ApiError("no_reaction")
    reactions.remove(params.text("name"))
    return {}


def set_status(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`assistant.threads.setStatus`: shown below a thread until the app writes there, or an empty one."""
    channel = world.channel_to_write(account, params.required("channel_id"))
    if params.required("thread_ts") not in channel.messages:
        raise ApiError("invalid_thread_ts")
    channel.statuses.append((params.text("thread_ts"), params.text("status")))
    return {}


def upload_url(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`files.getUploadURLExternal`."""
    if not 0 < params.integer("length", 0) <= FILE_LIMIT_BYTES:
        raise ApiError("invalid_arguments")
    file_id = f"F{next(world.ids):08d}"
    world.uploads[file_id] = (params.required("filename"), b"")
    world.announced[file_id] = params.integer("length", 0)
    return {"upload_url": f"{world.url}/upload/{file_id}", "file_id": file_id}


def complete_upload(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`files.completeUploadExternal`: with a channel, the files are posted there in one message."""
    wanted = params.json("files", "invalid_arguments") or []
    if not wanted or any(one.get("id") not in world.uploads for one in wanted):
        raise ApiError("file_not_found")
    stored = []
    for one in wanted:
        name, content = world.uploads.pop(one["id"])
        if len(content) != world.announced.pop(one["id"]):
            raise ApiError("file_update_failed")
        file = StoredFile(
            id=one["id"],
            name=name,
            mime="application/octet-stream",
            content=content,
            user=account.user.id,
            title=one.get("title") or name,
        )
        world.files[file.id] = file
        stored.append(file)
    if params.text("channel_id"):
        world.post(
            world.channel_to_write(account, params.text("channel_id")),
            account.user,
            at_s,
            text=params.text("initial_comment"),
            thread_ts=params.text("thread_ts") or None,
            files=tuple(stored),
        )
    return {"files": [file_json(file, world.url) for file in stored]}


def _reactions(world: World, account: Account, params: Params) -> list[str]:
    channel = world.channel_to_write(account, params.required("channel"))
    return world.message_of(channel, params.required("timestamp")).reactions
