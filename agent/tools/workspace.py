"""`list_files` and `read_file` in the folder of the person whose turn it is, and nowhere else.

Every step of a path is opened below the one before it and never through a link, so neither `..` nor a symbolic link,
nor one that is put there at this very moment, leads out. In a conversation of several people nobody's files are read:
what one turn reads stands in a history that the others' turns read.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from agent.ports import Who
from agent.tools.registry import BUILTIN_SERVER, Tool, ToolCallContext, ToolResult

MOST_LISTED = 200
MOST_BYTES = 1_000_000
LONGEST_FOLDER_NAME = 120
_DEEPEST = 20

NOT_HERE = "Several people read along here, so nobody's files are opened in this conversation."
NOBODY = "There is nobody here whose files these could be."


def workspace_of(workspaces: Path, user: str) -> Path:
    """The folder of one person (platform:user); different people never share one."""
    name = quote(user, safe="")
    if len(name) > LONGEST_FOLDER_NAME or name.startswith("."):
        name = hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()
    return workspaces / name


def workspace_tools(workspaces: Path) -> tuple[Tool, ...]:
    """The two tools; `workspaces` holds everybody's folders."""
    return (
        _tool(
            "list_files",
            "List the user's own files.",
            {"folder": {"type": "string", "description": "Below their folder; all of it if not given."}},
            (),
            lambda who, args: list_files(workspace_of(workspaces, who.user), str(args.get("folder") or "")),
        ),
        _tool(
            "read_file",
            "Read one of the user's own files as text.",
            {"path": {"type": "string", "description": "As list_files gives it.", "examples": ["notes.txt"]}},
            ("path",),
            lambda who, args: read_file(workspace_of(workspaces, who.user), str(args.get("path") or "")),
        ),
    )


def list_files(root: Path, folder: str = "") -> str:
    """The files in a folder and below it, with their sizes; blocks.

    Raises:
        ValueError: there is no such folder in the workspace.
    """
    lines: list[str] = []
    try:
        with _Opened(root, _steps(folder), os.O_DIRECTORY) as opened:
            _walk(opened, "/".join(_steps(folder)), lines)
    except FileNotFoundError:
        if folder:
            raise ValueError(f"there is no folder {folder!r}") from None
    except OSError:
        raise ValueError(f"{folder!r} is no folder of the user's") from None
    if not lines:
        return "There are no files."
    more = [f"… and more; name a folder to see what is in it ({MOST_LISTED} are shown)"]
    return "\n".join(lines[:MOST_LISTED] + (more if len(lines) > MOST_LISTED else []))


def read_file(root: Path, path: str) -> str:
    """A file's text; blocks.

    Raises:
        ValueError: there is no such file in the workspace, or it is no text.
    """
    steps = _steps(path)
    if not steps:
        raise ValueError("path is needed, the name of a file")
    try:
        # Not blocking: a named pipe must not hold the thread for ever.
        with _Opened(root, steps, os.O_NONBLOCK) as opened:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise ValueError(f"{path!r} is no file")
            with open(opened, "rb", closefd=False) as file:
                data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path!r}; list_files shows what there is") from None
    except OSError:
        raise ValueError(f"{path!r} is no file of the user's") from None
    if b"\0" in data:
        raise ValueError(f"{path!r} is no text")
    text = data[:MOST_BYTES].decode("utf-8", "replace")
    return text + (f"\n[… only the first {MOST_BYTES:,} bytes]" if len(data) > MOST_BYTES else "")


class _Opened:
    """A file or folder below a root, opened step by step; the descriptor is the context's value."""

    def __init__(self, root: Path, steps: tuple[str, ...], flags: int) -> None:
        self._root, self._steps, self._flags = root, steps, flags
        self._opened: list[int] = []

    def __enter__(self) -> int:
        try:
            # The root itself is ours: whoever may replace it needs no tool of ours.
            self._opened.append(os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            for at, step in enumerate(self._steps, 1):
                last = at == len(self._steps)
                flags = self._flags if last else os.O_DIRECTORY
                self._opened.append(
                    os.open(step, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=self._opened[-1])
                )
        except BaseException:
            self.__exit__()
            raise
        return self._opened[-1]

    def __exit__(self, *_: object) -> None:
        for descriptor in self._opened:
            with suppress(OSError):
                os.close(descriptor)


def _steps(path: str) -> tuple[str, ...]:
    steps = tuple(step for step in path.split("/") if step not in {"", "."})
    if ".." in steps or "\0" in path or len(steps) > _DEEPEST:
        raise ValueError(f"{path!r} is no path in the user's folder")
    return steps


def _walk(folder: int, place: str, lines: list[str]) -> None:
    """Add what is in an open folder, and below it, until there is more than is shown."""
    depth = place.count("/")
    for name in sorted(os.listdir(folder)):
        if len(lines) > MOST_LISTED:
            return
        path = f"{place}/{name}" if place else name
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                lines.append(f"{path} ({found.st_size:,} bytes)")
            elif stat.S_ISDIR(found.st_mode) and depth < _DEEPEST:
                below = os.open(
                    name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
                )
                try:
                    _walk(below, path, lines)
                finally:
                    os.close(below)
        except OSError:
            continue  # gone, or not ours to read: then it is not shown


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, object],
    required: tuple[str, ...],
    work: Callable[[Who, Mapping[str, object]], str],
) -> Tool:
    async def run(args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
        who = context.who
        if who is None or not who.is_alone:
            return ToolResult(text=NOBODY if who is None else NOT_HERE, is_error=True)
        try:
            return ToolResult(text=await asyncio.to_thread(work, who, args))
        except ValueError as error:
            return ToolResult(text=str(error), is_error=True)

    return Tool(
        name=name,
        server=BUILTIN_SERVER,
        tool=name,
        description=description,
        parameters={
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
        run=run,
        default_policy="allow",
        effect="read",
    )
