"""An MCP server for tests: `python mcp_fixture_server.py KIND`, good in most kinds and odd in one way each.

Kinds: good (tools below) · silent (reads, never answers) · noisy (text before its protocol) · dies (says why and
exits) · stubborn (ignores end of input and SIGTERM; has a child of its own).
"""

import base64
import json
import os
import signal
import subprocess
import sys
import time

KIND = sys.argv[1]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
TOOLS = ["big", "picture", "blob", "env", "slow", "die", "more", "fails", "order", "twice", "twice"]
SIZE_FORM = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "title": "Size", "enum": ["s", "m"], "enumNames": ["Small", "Middle"]},
        "count": {"type": "integer", "title": "How many", "minimum": 1, "maximum": 9},
        "gift": {"type": "boolean", "title": "As a gift"},
    },
    "required": ["size", "count"],
}


def write(message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words: str, *, failed: bool = False) -> dict:
    return {"content": [{"type": "text", "text": words}], "isError": failed}


def call(name: str, args: dict) -> dict:
    match name:
        case "big":
            return text("x" * args["size"])
        case "picture":
            return {
                "content": [
                    {"type": "text", "text": "a picture"},
                    {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"},
                ]
            }
        case "blob":
            return text("data: " + base64.b64encode(PNG * 1000).decode())
        case "env":
            return text(json.dumps(dict(os.environ)))
        case "slow":
            print("heard", json.loads(sys.stdin.readline())["method"], file=sys.stderr, flush=True)
        case "die":
            os._exit(3)
        case "more":
            TOOLS.append("late")
            write({"method": "notifications/tools/list_changed"})
            return text("there is more")
        case "order":
            params = {"message": "Your shirt, please:", "requestedSchema": SIZE_FORM}
            write({"id": "form", "method": "elicitation/create", "params": params})
            return text(json.dumps(json.loads(sys.stdin.readline()).get("result")))
        case "fails":
            return text("it did not work", failed=True)
    return text(name)


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or KIND == "silent":
            continue
        match message["method"]:
            case "initialize":
                result = {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "fixture", "version": "1"},
                }
            case "tools/list":
                result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
            case "tools/call":
                result = call(message["params"]["name"], message["params"].get("arguments") or {})
            case _:
                write({"id": message["id"], "error": {"code": -32601, "message": "no"}})
                continue
        write({"id": message["id"], "result": result})


if KIND == "dies":
    sys.exit(f"cannot start: KEY {os.environ.get('KEY')} is wrong")
if KIND == "noisy":
    print("Welcome to the server!\n\nListening…", flush=True)
if KIND == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(f"child {child.pid}", file=sys.stderr, flush=True)
serve()
if KIND == "stubborn":
    time.sleep(600)
