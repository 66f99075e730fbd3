"""The tools that need no server."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.tools.registry import Tool, function_tool


def now(timezone: str = "UTC") -> str:
    """The current date and time in a time zone, named as in the IANA database (Europe/Vienna)."""
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder, like "Europe"
        raise ValueError(
            f"no time zone is called {timezone!r}; use an IANA name like Europe/Vienna"
        ) from None
    return datetime.now(UTC).astimezone(zone).strftime("%A, %Y-%m-%d %H:%M:%S %Z (UTC%z)")


def builtin_tools() -> tuple[Tool, ...]:
    """All built-in tools."""
    return (function_tool(now, default_policy="allow", effect="read"),)


BUILTIN_NAMES = ("now",)
"""Their names, for the check of a configuration, without the cost of building their schemas."""
