"""The simulator's records as the API's JSON objects, version 10."""

from typing import Any

from .records import DM, Channel, File, Guild, Interaction, Message, Rows, User
from .snowflakes import moment_of

Json = dict[str, Any]
EVERYONE_PERMISSIONS = "2251799813685247"


def user_payload(user: User) -> Json:
    """A user."""
    return {
        "id": str(user.id),
        "username": user.username,
        "global_name": user.display_name or None,
        "discriminator": "0",
        "avatar": None,
        "public_flags": 0,
    } | ({"bot": True} if user.is_bot else {})


def member_payload(user: User) -> Json:
    """A member without its user, as messages carry it."""
    return {
        "roles": [],
        "nick": None,
        "avatar": None,
        "joined_at": moment_of(user.id),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
    }


def channel_payload(channel: Channel) -> Json:
    """A channel, thread or direct channel."""
    last = max(channel.messages, default=None)
    payload: Json = {
        "id": str(channel.id),
        "type": channel.kind,
        "last_message_id": None if last is None else str(last),
        "flags": 0,
    }
    if channel.kind == DM:
        return payload | {"recipients": [user_payload(user) for user in channel.members.values()]}
    assert channel.guild is not None
    payload |= {
        "guild_id": str(channel.guild.id),
        "name": channel.name,
        "position": 0,
        "permission_overwrites": [],
        "nsfw": False,
        "topic": None,
        "rate_limit_per_user": 0,
        "parent_id": None if channel.parent is None else str(channel.parent.id),
    }
    if channel.parent is None:
        return payload
    return payload | {
        "owner_id": str(channel.owner.id) if channel.owner else None,
        "message_count": len(channel.messages),
        "member_count": 2,
        "total_message_sent": len(channel.messages),
        "thread_metadata": {
            "archived": channel.is_archived,
            "auto_archive_duration": 1440,
            "archive_timestamp": moment_of(channel.id),
            "create_timestamp": moment_of(channel.id),
            "locked": False,
        },
    }


def guild_payload(guild: Guild, bot: User) -> Json:
    """A guild as `GUILD_CREATE` brings it, small enough to have its members with it."""
    channels = [one for one in guild.channels.values() if not one.is_hidden]
    members = [*guild.members.values(), bot]
    everyone = {
        "id": str(guild.id),
        "name": "@everyone",
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": 0,
        "permissions": EVERYONE_PERMISSIONS,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }
    return {
        "id": str(guild.id),
        "name": guild.name,
        "icon": None,
        "owner_id": str(guild.owner.id),
        "unavailable": False,
        "large": False,
        "joined_at": moment_of(guild.id),
        "member_count": len(members),
        "roles": [everyone, *guild.roles],
        "emojis": [],
        "stickers": [],
        "features": [],
        "channels": [channel_payload(one) for one in channels if not one.is_thread],
        "threads": [channel_payload(one) for one in channels if one.is_thread and not one.is_archived],
        "members": [member_payload(one) | {"user": user_payload(one)} for one in members],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "system_channel_flags": 0,
    }


def components_payload(rows: Rows) -> list[Json]:
    """Rows of buttons."""
    return [
        {
            "type": 1,
            "id": 1 + 10 * number,
            "components": [
                {"type": 2, "id": 2 + 10 * number + place, "style": button.style, "label": button.label}
                | ({"url": button.url} if button.url else {"custom_id": button.custom_id})
                | ({"disabled": True} if button.is_disabled else {})
                for place, button in enumerate(row)
            ],
        }
        for number, row in enumerate(rows)
    ]


def file_payload(file: File, message: Message, base: str) -> Json:
    """An attachment; `base` is the address of the file server."""
    url = f"{base}/attachments/{message.channel.id}/{file.id}/{file.name}?ex=1&is=1&hm=1"
    return {
        "id": str(file.id),
        "filename": file.name,
        "content_type": file.mime,
        "size": file.size_bytes,
        "url": url,
        "proxy_url": url,
    }


def message_payload(message: Message, base: str, mentioned: list[User], *, depth: int = 1) -> Json:
    """A message as the REST interface gives it: without guild, member and (when fetched again) nonce."""
    payload: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel.id),
        "author": user_payload(message.author),
        "content": message.text,
        "timestamp": message.sent_at,
        "edited_timestamp": message.edited_at,
        "tts": False,
        "mention_everyone": "everyone" in message.pings,
        "mentions": [user_payload(user) for user in mentioned],
        "mention_roles": [ping[5:] for ping in message.pings if ping.startswith("role:")],
        "attachments": [file_payload(file, message, base) for file in message.files],
        "embeds": [],
        "pinned": False,
        "type": message.kind,
        "flags": message.flags,
        "components": components_payload(message.rows),
    }
    if message.is_webhook:
        payload["webhook_id"] = str(message.author.id)
    if message.forwarded is not None:
        source = message.forwarded
        payload["message_reference"] = {
            "type": 1,
            "message_id": str(source.id),
            "channel_id": str(source.channel.id),
        }
        snapshot = message_payload(source, base, [], depth=0)
        kept = (
            "content",
            "attachments",
            "embeds",
            "timestamp",
            "edited_timestamp",
            "mentions",
            "type",
            "flags",
        )
        payload["message_snapshots"] = [{"message": {name: snapshot[name] for name in kept}}]
    if message.reference is not None:
        answered = message.reference
        payload["message_reference"] = {
            "type": 0,
            "message_id": str(answered.id),
            "channel_id": str(answered.channel.id),
        }
        if depth:
            gone = answered.is_deleted
            payload["referenced_message"] = (
                None if gone else message_payload(answered, base, [], depth=depth - 1)
            )
    return payload


def interaction_payload(interaction: Interaction, base: str) -> Json:
    """An interaction as `INTERACTION_CREATE` brings it."""
    channel = interaction.channel
    payload: Json = {
        "id": str(interaction.id),
        "application_id": "",
        "type": interaction.kind,
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel": channel_payload(channel),
        "channel_id": str(channel.id),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": {},
        "context": 1 if channel.kind == DM else 0,
        "app_permissions": EVERYONE_PERMISSIONS,
        "attachment_size_limit": 10_485_760,
    }
    if channel.guild is None:
        payload["user"] = user_payload(interaction.user)
    else:
        payload |= {
            "guild_id": str(channel.guild.id),
            "guild": {"id": str(channel.guild.id), "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": member_payload(interaction.user)
            | {"user": user_payload(interaction.user), "permissions": EVERYONE_PERMISSIONS},
        }
    if interaction.message is not None:
        payload["message"] = message_payload(interaction.message, base, [])
    return payload
