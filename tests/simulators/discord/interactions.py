"""Responses to interactions: one, within three seconds, then follow-ups for a quarter of an hour.

https://docs.discord.com/developers/interactions/receiving-and-responding (read 2026).
"""

from collections.abc import Mapping
from typing import Any

from .components import read_components
from .errors import ApiError, invalid_form, unknown
from .records import EPHEMERAL, Account, Interaction, Message
from .sending import EMPTY, read_text, reads_flags
from .world import World

RESPOND_WITHIN_S = 3.0
TOKEN_LIFE_S = 900.0
MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE = 4, 5, 6, 7

Body = Mapping[str, Any]


def respond(world: World, interaction_id: int, token: str, body: Body, at_s: float) -> Interaction:
    """The first response (`POST /interactions/{id}/{token}/callback`).

    Raises:
        ApiError: 10062 when it comes too late or for nothing, 40060 when it is the second.
    """
    interaction = world.interactions.get(token)
    if interaction is None or interaction.id != interaction_id:
        raise unknown("interaction")
    if interaction.callback is not None:
        raise ApiError(400, 40060, "Interaction has already been acknowledged.")
    if at_s - interaction.at_s > RESPOND_WITHIN_S:
        raise unknown("interaction")
    kind, data = body.get("type"), body.get("data") or {}
    match kind:
        case 4:
            _show(world, interaction, data)
        case 5:
            interaction.is_thinking = True
            interaction.is_private = reads_flags(data)
        case 6 | 7 if interaction.message is None:
            raise invalid_form(
                "type", "INTERACTION_APPLICATION_COMMAND_INVALID_CALLBACK", "Not for a command."
            )
        case 6:
            pass
        case 7:
            _update(world, interaction, data)
        case _:
            raise invalid_form(
                "type", "BASE_TYPE_CHOICES", "Value must be one of {1, 4, 5, 6, 7, 8, 9, 10, 12}."
            )
    interaction.callback, interaction.answered_at_s = int(body["type"]), at_s
    world.changes.notify()
    return interaction


def follow_up(world: World, application_id: int, token: str, body: Body, at_s: float) -> Mapping[str, Any]:
    """A further message; the first one after a deferral fills that in and is as private as that was."""
    interaction = _open(world, application_id, token, at_s)
    message = _show(world, interaction, body)
    interaction.is_thinking = False
    return world.message_json(message)


def edit_original(
    world: World, application_id: int, token: str, body: Body, at_s: float
) -> Mapping[str, Any]:
    """Change (or, when deferred, fill in) the first response."""
    interaction = _open(world, application_id, token, at_s)
    if interaction.callback in {DEFERRED_UPDATE, UPDATE}:
        return world.message_json(_update(world, interaction, body))
    message = _show(world, interaction, body)
    interaction.is_thinking = False
    return world.message_json(message)


def delete_original(world: World, application_id: int, token: str, at_s: float) -> None:
    """Take the first response away."""
    interaction = _open(world, application_id, token, at_s)
    interaction.original_is_deleted, interaction.is_thinking = True, False
    world.changes.notify()


def put_commands(account: Account, world: World, commands: Any) -> list[dict[str, Any]]:
    """Replace all of an application's global commands.

    Raises:
        ApiError: 50035.
    """
    if not isinstance(commands, list) or len(commands) > 100:
        raise invalid_form("_errors", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
    for number, command in enumerate(commands):
        _check_command(command, str(number))
    names = [command["name"] for command in commands]
    if len(set(names)) < len(names):
        raise ApiError(
            400,
            50035,
            "Invalid Form Body",
            errors={"_errors": [{"code": "APPLICATION_COMMANDS_DUPLICATE_NAME"}]},
        )
    account.commands = [_command(command, account, world.ids()) for command in commands]
    return account.commands


def _command(raw: Body, account: Account, number: int) -> dict[str, Any]:
    own = {"id": str(number), "application_id": str(account.application_id), "type": 1, "version": "1"}
    return {"default_member_permissions": None, "nsfw": False} | dict(raw) | own


def _check_command(raw: Any, where: str, *, is_option: bool = False) -> None:
    name, description = str(raw.get("name", "")), str(raw.get("description", ""))
    proper = name == name.lower() and name.replace("-", "").replace("_", "").isalnum()
    if not (1 <= len(name) <= 32 and proper):
        raise invalid_form(f"{where}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    if not 1 <= len(description) <= 100:
        raise invalid_form(
            f"{where}.description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."
        )
    if is_option and raw.get("type") not in range(3, 12):
        raise invalid_form(
            f"{where}.type", "BASE_TYPE_CHOICES", "Only values, no sub-commands, are known here."
        )
    for number, option in enumerate(raw.get("options") or []):
        _check_command(option, f"{where}.options.{number}", is_option=True)


def _open(world: World, application_id: int, token: str, at_s: float) -> Interaction:
    interaction = world.interactions.get(token)
    if interaction is None or at_s - interaction.at_s > TOKEN_LIFE_S:
        raise ApiError(401, 50027, "Invalid Webhook Token")
    if world.accounts[interaction.account].application_id != application_id or interaction.callback is None:
        raise unknown("Webhook")
    return interaction


def _show(world: World, interaction: Interaction, data: Body) -> Message:
    text = read_text(world, data)
    if not text:
        raise ApiError(*EMPTY)
    rows = read_components(data.get("components"))
    bot = world.accounts[interaction.account].user
    now = world.recorder.clock()
    if not (interaction.is_private if interaction.is_thinking else reads_flags(data)):
        return world.post(interaction.channel, bot, now, text=text, rows=rows)
    interaction.told.append(text)
    world.changes.notify()
    return Message(  # in no channel's history
        id=world.ids(),
        channel=interaction.channel,
        author=bot,
        at_s=now,
        sent_at=world.ids.now(),
        text=text,
        rows=rows,
        flags=EPHEMERAL,
    )


def _update(world: World, interaction: Interaction, data: Body) -> Message:
    message = interaction.message
    assert message is not None
    message.earlier.append(message.text)
    message.text = read_text(world, data) if "content" in data else message.text
    message.rows = read_components(data["components"]) if "components" in data else message.rows
    message.edited_at = world.ids.now()
    world.announce("MESSAGE_UPDATE", message)
    return message
