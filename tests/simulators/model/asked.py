"""A chat completion request as the script and the steering look at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CHARACTERS_PER_TOKEN = 4  # the usual rough measure; the simulator's tokens are no real ones


def text_of(content: Any) -> str:
    """The text of a message's content, be it a string or a list of parts.

    Pictures and the like are left out.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A valid request."""

    body: Mapping[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history as sent, oldest first."""
        return list(self.body["messages"])

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]

    @property
    def last_user_text(self) -> str:
        """The text of the newest user message, empty without one."""
        return next((text_of(one["content"]) for one in reversed(self.messages) if one["role"] == "user"), "")

    @property
    def rounds(self) -> int:
        """How many times the model has already answered since the newest user message."""
        count = 0
        for message in reversed(self.messages):
            if message["role"] == "user":
                break
            count += message["role"] == "assistant"
        return count

    @property
    def tool_results(self) -> list[str]:
        """The texts of the tool messages at the end of the history, oldest first.

        Empty if it ends otherwise.
        """
        results: list[str] = []
        for message in reversed(self.messages):
            if message["role"] != "tool":
                break
            results.insert(0, text_of(message["content"]))
        return results

    def tokens(self) -> int:
        """A rough count of the request's tokens."""
        return sum(len(str(message)) for message in self.messages) // CHARACTERS_PER_TOKEN
