"""What `parley doctor` says of a bot, from what Discord says of it (pure)."""

from collections.abc import Collection, Sequence
from typing import Any

from discord import ApplicationFlags

from adapters.commands import SlashCommand
from adapters.discord.errors import PORTAL
from gateway.adapter import Finding
from gateway.errors import AdapterError


def refused(error: AdapterError) -> Finding:
    """The finding of a bot that Discord does not answer, or not as a bot."""
    return Finding(
        name="token",
        state="failed",
        detail=str(error),
        fix=f"set discord.token to the one under Bot at {PORTAL}; discord.api_base must be reachable from here",
    )


def known(name: str, account: str) -> Finding:
    """The finding of a token that Discord takes."""
    return Finding(name="token", state="ok", detail=f"{name}, id {account}")


def content_intent(flags: ApplicationFlags) -> Finding:
    """Whether messages come with their text; small bots have the flag named limited, verified ones the other."""
    if flags.gateway_message_content or flags.gateway_message_content_limited:
        return Finding(name="message content intent", state="ok", detail="on")
    return Finding(
        name="message content intent",
        state="failed",
        detail="off: Discord closes the connection of a bot that asks for messages without it",
        fix=f"switch it on at {PORTAL}: your application, Bot, Privileged Gateway Intents",
    )


def registered(commands: Sequence[SlashCommand], there: Collection[dict[str, Any]]) -> Finding:
    """Whether the slash commands that Discord shows are ours."""
    wanted, found = {command.name for command in commands}, {str(command["name"]) for command in there}
    if wanted == found:
        detail = f"{len(found)} registered" if found else "none, as discord.commands says"
        return Finding(name="commands", state="ok", detail=detail)
    names = ", ".join(sorted(f"/{name}" for name in wanted ^ found))
    return Finding(
        name="commands",
        state="warning",
        detail=f"not as they should be: {names}",
        fix="the daemon registers them when it connects; who does not see them then: invite the bot with the scope"
        " applications.commands",
    )
