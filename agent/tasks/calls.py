"""`task_begin` and `task_end`: the calls by which an agent hands the conversation on (pure).

They never stand in the call queue and never run here: the chat records "handed to the task system" and ends
after the round; what becomes of a task is decided by people afterwards.
"""

from collections.abc import Mapping
from typing import NoReturn

from agent.calls import ToolCall
from agent.records import TASK_SERVER
from agent.tools.registry import Tool, ToolCallContext, ToolResult

_SHOWN_PERSONA = 100


def task_tools(own_name: str, agents: Mapping[str, str]) -> tuple[Tool, ...]:
    """The two task tools for an agent that knows others; none where there is nobody to hand a task to.

    `agents` are all there are, by name, with their instructions, of which the first line tells the others apart.
    """
    others = sorted(name for name in agents if name != own_name)
    if not others:
        return ()
    known = "; ".join(_introduced(name, agents[name]) for name in others)
    return (
        _tool(
            "task_begin",
            "Hand a task to another agent. The user is asked; if they accept, that agent takes over.",
            {
                "agent": {"type": "string", "enum": others, "description": f"Who takes over. {known}"},
                "goal": {"type": "string", "description": "What is to be reached, whole and on its own."},
            },
        ),
        _tool(
            "task_end",
            "Say that your task is done and give the conversation back to the agent it came from.",
            {
                "summary": {
                    "type": "string",
                    "description": "What came out of it, for the agent it goes back to.",
                }
            },
        ),
    )


def _introduced(name: str, instructions: str) -> str:
    first = instructions.strip().partition("\n")[0][:_SHOWN_PERSONA].strip()
    return f"{name}: {first}" if first else name


def task_fault(call: ToolCall, tool: Tool | None) -> str | None:
    """What is wrong with a task call, for the model to read; None if it can be handed over."""
    if tool is None:
        return f"There is no tool named {call.name}."
    properties = tool.parameters["properties"]
    assert isinstance(properties, Mapping)
    for name, schema in properties.items():
        value = (call.args or {}).get(name)
        if not isinstance(value, str) or not value.strip():
            return f"{call.name} needs {name}, a text."
        if "enum" in schema and value not in schema["enum"]:
            return f"{call.name}: there is no agent {value}; choose one of {', '.join(schema['enum'])}."
    return None


def _tool(name: str, description: str, properties: Mapping[str, Mapping[str, object]]) -> Tool:
    return Tool(
        name=name,
        server=TASK_SERVER,
        tool=name,
        description=description,
        parameters={
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        run=_never_run,
    )


async def _never_run(_args: Mapping[str, object], _context: ToolCallContext) -> ToolResult:
    _unreachable()


def _unreachable() -> NoReturn:
    raise AssertionError("task calls are handed over, never run")
