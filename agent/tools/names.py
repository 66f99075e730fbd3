"""The names tools have for the model: valid for every provider, unique, and the same tomorrow (pure).

A name is `server__tool` where that says which tool is meant. Otherwise (a character no API takes, more than
64 of them, or two readings of the same name) a hash of the real names follows. A tool's name depends on
nothing but its own server and tool, so neither order nor other servers nor a restart can change it.

Providers take `^[A-Za-z0-9_-]{1,64}$` (OpenAI API reference, `tools[].function.name`, read 2026-10).
"""

import hashlib
import re
from collections.abc import Iterable

MAX_LENGTH = 64
_JOIN = "__"
_SERVER_ROOM = 24
_HASH_DIGITS = 10


def model_name(server: str, tool: str) -> str:
    """The model's name for one MCP tool."""
    plain = f"{server}{_JOIN}{tool}"
    is_clear = plain.split(_JOIN, 1) == [server, tool] and server and tool
    if is_clear and len(plain) <= MAX_LENGTH and _clean(plain) == plain:
        return plain
    digest = hashlib.sha256(f"{len(server)}:{server}{tool}".encode("utf-8", "surrogatepass")).hexdigest()
    tail = f"_{digest[:_HASH_DIGITS]}"
    head = f"{_clean(server)[:_SERVER_ROOM]}{_JOIN}{_clean(tool)}"
    return head[: MAX_LENGTH - len(tail)] + tail


def model_names(tools: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Names → `(server, tool)`.

    Two tools meet in one name only by intent (a server that spells out another's hash): then the first in
    alphabetical order has it, and the other is left out, which the caller can see by its absence.
    """
    named: dict[str, tuple[str, str]] = {}
    for server, tool in sorted(set(tools)):
        named.setdefault(model_name(server, tool), (server, tool))
    return named


def _clean(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)
