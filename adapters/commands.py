"""The commands as platforms show them in their menus; the gateway's own list is in `gateway.commands`.

Adapters know nothing behind the border, so the names are written here once more; a test holds the two together.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A command; `argument` describes the rest of its line, "" if it takes none."""

    name: str
    description: str
    argument: str = ""


COMMANDS = (
    SlashCommand(name="start", description="Say hello"),
    SlashCommand(name="help", description="List the commands"),
    SlashCommand(name="new", description="Begin a new conversation"),
    SlashCommand(
        name="compact", description="Make a summary of what was said long ago; the transcript stays"
    ),
    SlashCommand(name="stop", description="Stop what runs now", argument="all: drop what waits, too"),
    SlashCommand(name="status", description="What runs, what waits, which tools are there"),
    SlashCommand(name="whoami", description="Your ids, as an allow-list needs them"),
    SlashCommand(name="approve", description="Let the tool run that waits for you, once"),
    SlashCommand(name="deny", description="Do not let it run", argument="Why, for the agent to know"),
    SlashCommand(
        name="grants", description="What you allowed beforehand", argument="revoke NUMBER: take one back"
    ),
    SlashCommand(
        name="sessions", description="Our conversations here", argument="NUMBER: go back to that one"
    ),
    SlashCommand(name="again", description="Show again what may not have arrived"),
    SlashCommand(name="retry", description="Try again what failed last, from where it stood"),
    SlashCommand(name="restart", description="Restart me, for admins; what runs goes on afterwards"),
    SlashCommand(name="pause", description="Start nothing any more, for admins; messages are kept"),
    SlashCommand(name="resume", description="Go on after /pause, for admins"),
)
