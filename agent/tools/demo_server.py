"""A small MCP server for trying things out: dice, an echo, and notes that are written down.

Run as `python -m agent.tools.demo_server NOTES_FOLDER`; speaks MCP over standard input and output. It is
written against the protocol, not with the SDK: a process of 10 MB that is there at once, where the SDK's
server takes 60 MB and two seconds of a small machine's start.

Protocol: JSON-RPC 2.0, one message a line (modelcontextprotocol.io, revision 2025-11-25, "stdio" and
"tools").
"""

import json
import random
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

_PROTOCOL = "2025-11-25"
_METHOD_NOT_FOUND = -32601
_PARSE_ERROR = -32700
_MOST_DICE = 100


class DemoServer:
    """The tools, and the protocol around them.

    Args:
        notes: The file notes are appended to.
        dice: Where chance comes from.
    """

    def __init__(self, notes: Path, dice: random.Random) -> None:
        self._notes = notes
        self._dice = dice
        self._tools: Mapping[str, Callable[[Mapping[str, object]], str]] = {
            "roll": self._roll,
            "echo": self._echo,
            "write_note": self._write_note,
            "read_notes": self._read_notes,
        }

    def answer(self, line: str) -> dict[str, object] | None:
        """The answer to one line; None to a notification."""
        try:
            message = json.loads(line)
        except ValueError:
            return _error(None, _PARSE_ERROR, "not JSON")
        if not isinstance(message, dict) or "id" not in message:
            return None
        request_id, params = message["id"], message.get("params") or {}
        match message.get("method"):
            case "initialize":
                return _result(request_id, _hello(params))
            case "ping":
                return _result(request_id, {})
            case "tools/list":
                return _result(request_id, {"tools": TOOLS})
            case "tools/call":
                return _result(request_id, self._call(params))
            case method:
                return _error(request_id, _METHOD_NOT_FOUND, f"no method {method}")

    def _call(self, params: Mapping[str, object]) -> dict[str, object]:
        tool, args = self._tools.get(str(params.get("name")), _no_tool), params.get("arguments")
        try:
            text, failed = tool(args if isinstance(args, dict) else {}), False
        except (ValueError, OSError) as error:
            text, failed = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}

    def _roll(self, args: Mapping[str, object]) -> str:
        sides, count = _whole(args, "sides", 6), _whole(args, "count", 1)
        if not 2 <= sides <= 1000 or not 1 <= count <= _MOST_DICE:
            raise ValueError(f"between 1 and {_MOST_DICE} dice with 2 to 1000 sides")
        rolled = [self._dice.randint(1, sides) for _ in range(count)]
        return f"{rolled[0]}" if count == 1 else f"{' + '.join(map(str, rolled))} = {sum(rolled)}"

    def _echo(self, args: Mapping[str, object]) -> str:
        return _text(args, "text")

    def _write_note(self, args: Mapping[str, object]) -> str:
        note = " ".join(_text(args, "text").split())
        self._notes.parent.mkdir(parents=True, exist_ok=True)
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M} {note}\n")
        return "Written down."

    def _read_notes(self, _args: Mapping[str, object]) -> str:
        if not self._notes.exists():
            return "There are no notes yet."
        return self._notes.read_text(encoding="utf-8")


def _no_tool(_args: Mapping[str, object]) -> str:
    raise ValueError("there is no such tool")


def _hello(params: Mapping[str, object]) -> dict[str, object]:
    return {
        "protocolVersion": params.get("protocolVersion") or _PROTOCOL,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "parley-demo", "version": "1"},
    }


def _text(args: Mapping[str, object], name: str) -> str:
    value = args.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is needed, a text")
    return value


def _whole(args: Mapping[str, object], name: str, default: int) -> int:
    value = args.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} has to be a whole number")  # noqa: TRY004 - told to the model
    return value


def _result(request_id: object, result: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _error(request_id: object, code: int, message: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def _schema(required: tuple[str, ...] = (), **properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TOOLS = (
    {
        "name": "roll",
        "description": "Roll dice.",
        "inputSchema": _schema(
            ("sides",),
            sides={"type": "integer", "minimum": 2, "maximum": 1000, "examples": [6]},
            count={"type": "integer", "minimum": 1, "maximum": _MOST_DICE},
        ),
    },
    {
        "name": "echo",
        "description": "Say a text back.",
        "inputSchema": _schema(("text",), text={"type": "string", "examples": ["hello"]}),
    },
    {
        "name": "write_note",
        "description": "Write a note down, for good.",
        "inputSchema": _schema(("text",), text={"type": "string", "examples": ["buy milk"]}),
    },
    {
        "name": "read_notes",
        "description": "Read all notes.",
        "inputSchema": _schema(),
    },
)


def serve(server: DemoServer, source: TextIO, sink: TextIO) -> None:
    """Answer line by line until the input ends."""
    for line in source:
        if line.strip() and (answer := server.answer(line)) is not None:
            sink.write(json.dumps(answer, ensure_ascii=False) + "\n")
            sink.flush()


def main() -> None:
    """Serve on standard input and output; the notes folder is the first argument."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    serve(DemoServer(folder / "notes.txt", random.Random()), sys.stdin, sys.stdout)  # noqa: S311 - dice


if __name__ == "__main__":
    main()
