"""A tool call as the agent knows it: with an id of our own, and the hash its approval is bound to."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """A file that a tool gave back, for the person who asked.

    `kept` is its name in the folder of results (`agent.tools.results`), `name` what the tool calls it: not yet safe
    to store under or to show.
    """

    kept: str
    name: str
    mime_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call the model asks for.

    `id` is ours, unique in its turn (`round.position`); a provider's ids repeat. `name` is the model's word for
    the tool, `server` and `tool` are its real names (`server/tool` is what policies match). `args` is None when
    the model's arguments are no JSON object; `raw_args` is what it wrote. `schema` is the fingerprint of the tool's
    parameters now that the call is decided on: an approval holds for them, too. It is not part of the record.
    """

    id: str
    name: str
    server: str
    tool: str
    args: Mapping[str, object] | None
    raw_args: str = ""
    schema: str = field(default="", compare=False)

    @property
    def ref(self) -> str:
        """`server/tool`, as in the approvals configuration."""
        return f"{self.server}/{self.tool}"

    @property
    def args_hash(self) -> str:
        """SHA-256 of server, tool and arguments in canonical JSON: an approval holds for exactly this."""
        text = json.dumps([self.server, self.tool, self.args], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
