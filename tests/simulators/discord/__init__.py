"""A Discord on loopback that speaks REST and gateway, version 10; see `simulator.DiscordSimulator`."""

from .records import Button, Channel, Guild, Interaction, Message, User
from .simulator import DiscordSimulator
from .world import Account

__all__ = ["Account", "Button", "Channel", "DiscordSimulator", "Guild", "Interaction", "Message", "User"]
