"""A Telegram on loopback that speaks the Bot API over HTTP; see `simulator.TelegramSimulator`."""

from .appearance import Run, styled_runs, styles_of
from .records import Chat, Message, Press, User
from .simulator import TelegramSimulator
from .text import Entity, FormattedText, utf16_length

__all__ = [
    "Chat",
    "Entity",
    "FormattedText",
    "Message",
    "Press",
    "Run",
    "TelegramSimulator",
    "User",
    "styled_runs",
    "styles_of",
    "utf16_length",
]
