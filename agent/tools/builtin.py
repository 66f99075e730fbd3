"""The tools that need no server."""

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.questions import QUESTION_SCHEMA, read_question
from agent.tools.registry import BUILTIN_SERVER, Tool, ToolCallContext, ToolResult, function_tool


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
    return (function_tool(now, default_policy="allow", effect="read"), _ask_user())


def _ask_user() -> Tool:
    return Tool(
        name="ask_user",
        server=BUILTIN_SERVER,
        tool="ask_user",
        description=(
            "Ask the user a question and wait for the answer, however long it takes. Give choices where the answer is"
            " one of a few; ask one thing at a time, and only what you cannot find out yourself."
        ),
        parameters=QUESTION_SCHEMA,
        run=_never_run,
        default_policy="allow",
        effect="read",
        question=read_question,
    )


async def _never_run(_args: Mapping[str, object], _context: ToolCallContext) -> ToolResult:
    raise AssertionError("a question is answered by a person, never run")


BUILTIN_NAMES = ("now", "ask_user", "remember", "recall", "forget", "list_files", "read_file")
"""Their names, for the check of a configuration, without the cost of building their schemas."""
