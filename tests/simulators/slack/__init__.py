"""A Slack on loopback: Web API, Socket Mode and signed HTTP; see `simulator.SlackSimulator`."""

from .deliveries import Deliveries, Delivery
from .records import Channel, Command, Ephemeral, Message, Press, User
from .simulator import SlackSimulator
from .webhooks import Webhook, sign
from .world import Account

__all__ = [
    "Account",
    "Channel",
    "Command",
    "Deliveries",
    "Delivery",
    "Ephemeral",
    "Message",
    "Press",
    "SlackSimulator",
    "User",
    "Webhook",
    "sign",
]
