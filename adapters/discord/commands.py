"""The commands as Discord registers them; their interactions come in as the text `/name argument`."""

from typing import Any

from adapters.commands import SlashCommand

ARGUMENT = "argument"


def to_payload(command: SlashCommand) -> dict[str, Any]:
    """The command as `PUT /applications/{id}/commands` takes it, for guilds and direct chats with the bot."""
    option = {"type": 3, "name": ARGUMENT, "description": command.argument, "required": False}
    return {
        "type": 1,
        "name": command.name,
        "description": command.description,
        "contexts": [0, 1],
        "integration_types": [0],
        "options": [option] if command.argument else [],
    }
