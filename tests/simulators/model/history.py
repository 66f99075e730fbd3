"""The rules a chat completion request must keep, as strict as OpenAI keeps them (API reference and observed, 2026).

Most clients only meet them when a history went wrong: a tool call without its answer after an interrupt, an
answer without its call after a compression. The real service refuses such a request, so a test must too.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .asked import text_of
from .errors import invalid

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = ("system", "developer", "user", "assistant", "tool")


def check_request(body: Any) -> None:
    """Refuse what the API refuses.

    Raises:
        ModelApiError: 400 with the API's words.
    """
    if not isinstance(body, dict):
        raise invalid("We could not parse the JSON body of your request.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise invalid("you must provide a model parameter")
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise invalid("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    if not messages:
        raise invalid("[] is too short - 'messages'", "messages")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options"
        )
    check_tools(body)
    check_messages(messages)


def check_tools(body: Mapping[str, Any]) -> None:
    """Check the tools offered: names, uniqueness, schemas, and that a choice has something to choose from."""
    tools = body.get("tools")
    if tools is None:
        if body.get("tool_choice") not in {None, "none", "auto"}:
            raise invalid("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
        return
    if not isinstance(tools, list) or not tools:
        raise invalid(f"{tools!r} is too short - 'tools'", "tools", "empty_array")
    names: Counter[Any] = Counter()
    for place, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            raise invalid(f"Missing required parameter: 'tools[{place}].function'.", f"tools[{place}]")
        name = function.get("name")
        check_name(name, f"tools[{place}].function.name")
        names[name] += 1
        schema = function.get("parameters", {"type": "object"})
        if not isinstance(schema, dict) or schema.get("type") != "object":
            kind = schema.get("type") if isinstance(schema, dict) else schema
            raise invalid(
                f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', "
                f"got 'type: \"{kind}\"'.",
                f"tools[{place}].function.parameters",
                "invalid_function_parameters",
            )
    if twice := [name for name, number in names.items() if number > 1]:
        raise invalid(f"Invalid 'tools': tool names must be unique, found {twice} more than once.", "tools")


def check_messages(messages: list[Any]) -> None:
    """Check each message, and that calls and their results stand together."""
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            role = message.get("role") if isinstance(message, dict) else message
            raise invalid(
                f"Invalid value: {role!r}. Supported values are: {', '.join(ROLES)}.", f"{where}.role"
            )
        if message["role"] == "tool":
            take_result(message, where, open_calls)
            continue
        if open_calls:
            raise unanswered(open_calls, where)
        if message["role"] == "assistant":
            open_calls = check_assistant(message, where)
        elif not has_content(message):
            raise invalid(f"Invalid '{where}.content': the content must not be empty.", f"{where}.content")
    if open_calls:
        raise unanswered(open_calls, f"messages[{len(messages) - 1}]")


def take_result(message: Mapping[str, Any], where: str, open_calls: list[str]) -> None:
    """Match a tool message with the call it answers."""
    call_id = message.get("tool_call_id")
    if call_id not in open_calls:
        raise invalid(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
            f"with 'tool_calls'. tool_call_id: {call_id!r}",
            f"{where}.role",
        )
    if not isinstance(message.get("content"), str | list):
        raise invalid(
            f"Invalid type for '{where}.content': expected a string.", f"{where}.content", "invalid_type"
        )
    open_calls.remove(call_id)


def unanswered(open_calls: list[str], where: str) -> Exception:
    """The refusal of calls that no tool message answers."""
    return invalid(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(open_calls),
        where,
    )


def check_assistant(message: Mapping[str, Any], where: str) -> list[str]:
    """Check an assistant message; returns the ids of its calls."""
    calls = message.get("tool_calls")
    if calls is None:
        if not has_content(message) and not message.get("refusal"):
            raise invalid(
                f"Invalid value for '{where}.content': expected a string, got null.", f"{where}.content"
            )
        return []
    if not isinstance(calls, list) or not calls:
        raise invalid(f"Invalid '{where}.tool_calls': empty array.", f"{where}.tool_calls", "empty_array")
    ids = []
    for place, call in enumerate(calls):
        here = f"{where}.tool_calls[{place}]"
        if not isinstance(call, dict) or not isinstance(call.get("id"), str) or not call["id"]:
            raise invalid(f"Missing required parameter: '{here}.id'.", f"{here}.id")
        function = call.get("function") or {}
        check_name(function.get("name"), f"{here}.function.name")
        check_arguments(function.get("arguments"), f"{here}.function.arguments")
        ids.append(call["id"])
    if len(set(ids)) < len(ids):
        raise invalid(f"Invalid '{where}.tool_calls': duplicate tool call ids.", f"{where}.tool_calls")
    return ids


def check_name(name: Any, where: str) -> None:
    """Check a function's name."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise invalid(
            f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]{1,64}$'.",
            where,
            "invalid_value",
        )


def check_arguments(arguments: Any, where: str) -> None:
    """Check that a call in the history carries its arguments as JSON text."""
    try:
        json.loads(arguments)
    except (TypeError, ValueError):
        raise invalid(
            f"Invalid '{where}': expected a string of valid JSON.", where, "invalid_value"
        ) from None


def has_content(message: Mapping[str, Any]) -> bool:
    """Whether a message says or shows anything."""
    content = message.get("content")
    if isinstance(content, list):
        shows = any(isinstance(part, dict) and part.get("type") != "text" for part in content)
        return shows or bool(text_of(content))
    return bool(text_of(content))
