"""What a tool is, and the catalogue an agent has of them for one turn.

A catalogue is frozen: names, schemas and policies stay the same for a whole turn. Where tools come from
(`builtin`, `mcp`) is hidden behind `Tool.run`.
"""

import asyncio
import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

from agent.calls import ResultFile
from agent.ports import Who
from agent.provider import ToolSpec
from agent.questions import Question, Reply

BUILTIN_SERVER = "builtin"

Effect = Literal["read", "idempotent", "external"]
Policy = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back: text for the model, files for people; `is_error` if it did not do what it was asked.

    `lost` says that the call may or may not have run (its server went away meanwhile).
    """

    text: str
    is_error: bool = False
    lost: bool = False
    files: tuple[ResultFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallContext:
    """What a tool may know about its call: `key` is unique and the same when the call runs again.

    `ask` asks the user something while the tool runs; the wait is bounded, and not counted as the tool's time.
    `who` is the person whose turn calls the tool.
    """

    key: str
    ask: Callable[[Question], Coroutine[object, object, Reply]] | None = None
    who: Who | None = None


Runner = Callable[[Mapping[str, object], ToolCallContext], Awaitable[ToolResult]]
ReadQuestion = Callable[[Mapping[str, object]], Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    `name` is the model's, `server` and `tool` the real names. `parameters` is a JSON schema of type object.
    `effect` says what a second run would do, after a crash hid the result of the first. A tool with `question` is
    never run: a person's answer to what it reads from the arguments (`ValueError`: they are none) is its result.
    """

    name: str
    server: str
    tool: str
    description: str
    parameters: Mapping[str, object]
    run: Runner = field(repr=False, compare=False)
    default_policy: Policy = "ask"
    effect: Effect = "external"
    question: ReadQuestion | None = field(default=None, repr=False, compare=False)

    @property
    def ref(self) -> str:
        """`server/tool`."""
        return f"{self.server}/{self.tool}"

    @property
    def schema(self) -> str:
        """A fingerprint of the parameters: it changes when the same arguments may come to mean something else."""
        text = json.dumps(self.parameters, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def spec(self) -> ToolSpec:
        """The tool as a provider is told of it."""
        return ToolSpec(
            name=self.name, ref=self.ref, description=self.description, parameters=self.parameters
        )


class Catalogue:
    """An agent's tools for one turn, by the model's name; in a stable order."""

    __slots__ = ("_by_name", "fingerprint", "specs")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._by_name = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        self.specs = tuple(tool.spec for tool in self._by_name.values())
        content = [(spec.name, spec.ref, spec.description, spec.parameters) for spec in self.specs]
        text = json.dumps(content, sort_keys=True, default=str)
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]

    def get(self, name: str) -> Tool | None:
        """The tool of that name, if the agent has it."""
        return self._by_name.get(name)

    def find(self, server: str, tool: str) -> Tool | None:
        """The tool with these real names, if the agent (still) has it."""
        return next((t for t in self._by_name.values() if t.server == server and t.tool == tool), None)

    def resolve(self, name: str) -> tuple[str, str]:
        """A model's word → `(server, tool)`; an unknown one has no server."""
        tool = self._by_name.get(name)
        return ("", name) if tool is None else (tool.server, tool.tool)

    def __len__(self) -> int:
        return len(self._by_name)


TOOLSETS: Mapping[str, frozenset[str]] = {
    "questions": frozenset({"ask_user"}),
    "memory": frozenset({"remember", "recall", "forget"}),
    "files": frozenset({"list_files", "read_file"}),
}
"""Built-in tools that are switched on and off together, by a name for all of them."""


def matches(patterns: Iterable[str], server: str, tool: str) -> bool:
    """Whether a pattern means this tool: a glob `server/tool`, a server's name, a toolset, a built-in tool's name."""
    ref = f"{server}/{tool}"
    return any(
        fnmatchcase(ref, pattern)
        or pattern == server
        or (server == BUILTIN_SERVER and (fnmatchcase(tool, pattern) or tool in TOOLSETS.get(pattern, ())))
        for pattern in patterns
    )


def function_tool(
    function: Callable[..., str | Awaitable[str]],
    *,
    default_policy: Policy,
    effect: Effect,
) -> Tool:
    """A built-in tool from a function: name, docstring and type hints say all there is to say.

    A function that is no coroutine runs in a thread, so it may block. It raises `ValueError` to tell the
    model
    what was wrong with the arguments.
    """
    from pydantic import TypeAdapter, ValidationError

    # The adapter of a function checks the arguments against its hints and then calls it.
    adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", function))
    is_async = inspect.iscoroutinefunction(function)

    async def run(args: Mapping[str, object], _context: ToolCallContext) -> ToolResult:
        try:
            if is_async:
                return ToolResult(text=await adapter.validate_python(dict(args)))
            return ToolResult(text=await asyncio.to_thread(adapter.validate_python, dict(args)))
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
            return ToolResult(text="; ".join(faults), is_error=True)
        except ValueError as error:
            return ToolResult(text=str(error), is_error=True)

    return Tool(
        name=function.__name__,
        server=BUILTIN_SERVER,
        tool=function.__name__,
        description=inspect.getdoc(function) or "",
        parameters=adapter.json_schema(),
        run=run,
        default_policy=default_policy,
        effect=effect,
    )
