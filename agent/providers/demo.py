"""The demo model: offline, deterministic, and good for trying the product out.

It streams word by word, answers "help", calls tools (`use NAME {json}`, one call a line), writes a long
formatted answer when asked for one ("long"), thinks aloud ("think"), and says in plain words what tools
returned.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from agent.events import TextDelta, ThinkingDelta
from agent.provider import ToolSpec
from agent.providers.demo_texts import LONG_ANSWER, THOUGHT, help_text
from agent.settings import ModelProfile

_USE = re.compile(
    r"^(?:\[[^\]\n]{1,120}\]\s+)?(?:@\S+\s+)?use\s+(?P<name>\S+)[ \t]*(?P<args>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A call; in a shared session each line carries its speaker's mark before it, `[name#id]`, or an agent's name."""
_MARK = re.compile(r"^(?:\[[^\]\n]{1,120}\] )?(?:@\S+\s+)?")

_LONGEST_STREAM_S = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoProvider:
    """A `Provider` without a network; `delay_s` is the pause between two words."""

    delay_s: float = 0.02

    async def send(
        self,
        messages: Sequence[ModelMessage],
        tools: Sequence[ToolSpec],
        settings: Mapping[str, object],  # noqa: ARG002 - the demo has nothing to set
    ) -> AsyncGenerator[TextDelta | ThinkingDelta | ModelResponse, None]:
        """Answer the last request of a conversation."""
        response = respond(messages, tools)
        for part in response.parts:
            if isinstance(part, TextPart | ThinkingPart):
                words = re.findall(r"\s*\S+\s*|\s+", part.content)
                pause_s = min(self.delay_s, _LONGEST_STREAM_S / max(1, len(words)))
                for word in words:
                    if pause_s:
                        await asyncio.sleep(pause_s)
                    yield TextDelta(text=word) if isinstance(part, TextPart) else ThinkingDelta(text=word)
        yield response


def open_provider(_profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> DemoProvider:  # noqa: ARG001
    """The demo provider; see `agent.providers.table`."""
    return DemoProvider(delay_s=demo_delay_s)


def respond(messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]) -> ModelResponse:
    """The whole answer to a conversation (pure but for the response's time stamp)."""
    last = messages[-1]
    returns = (
        [p for p in last.parts if isinstance(p, ToolReturnPart)] if isinstance(last, ModelRequest) else []
    )
    asked = _last_question(messages)
    parts: list[TextPart | ThinkingPart | ToolCallPart] = []
    if returns:
        parts.append(TextPart(content=_tell_results(returns)))
    elif calls := _calls_in(asked, tools):
        names = ", ".join(f"`{call.tool_name}`" for call in calls)
        parts.append(TextPart(content=f"I call {names}."))
        parts.extend(calls)
    else:
        parts.extend(_talk(asked, tools))
    heard = sum(_length(part) for message in messages for part in message.parts) // 4
    spoken = sum(_length(part) for part in parts) // 4
    return ModelResponse(
        parts=parts,
        usage=RequestUsage(input_tokens=heard, output_tokens=spoken + 8 * len(parts)),
        model_name="demo",
        provider_name="demo",
        finish_reason="tool_call" if any(isinstance(part, ToolCallPart) for part in parts) else "stop",
    )


def _length(part: object) -> int:
    """A part's size in characters, for a rough count of tokens: four characters each."""
    content = getattr(part, "content", "")
    return len(content) if isinstance(content, str) else 0


def _talk(asked: str, tools: Sequence[ToolSpec]) -> list[TextPart | ThinkingPart]:
    wish = _MARK.sub("", asked).strip().strip("?!./").lower()
    if wish in {"help", "start", "hello", "hi", "what can you do"}:
        return [TextPart(content=help_text(tools))]
    if wish.split(" ")[0] == "long":
        return [TextPart(content=LONG_ANSWER)]
    if wish.split(" ")[0] == "think":
        return [
            ThinkingPart(content=THOUGHT),
            TextPart(content="I have thought about it: the answer is **42**."),
        ]
    return [
        TextPart(
            content=f"You said: {asked}\n\nI am the offline demo model. Say `help` to see what I can do."
        )
    ]


def _last_question(messages: Sequence[ModelMessage]) -> str:
    for message in reversed(messages):
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, UserPromptPart):
                return part.content if isinstance(part.content, str) else " ".join(map(str, part.content))
    return ""


def _calls_in(asked: str, tools: Sequence[ToolSpec]) -> list[ToolCallPart]:
    calls = []
    for match in _USE.finditer(asked):
        name, args = _tool_name(match["name"], tools), match["args"].strip()
        if (
            not args or args.startswith("{") or any(spec.name == name for spec in tools)
        ):  # else "use your head"
            calls.append(ToolCallPart(tool_name=name, args=args or "{}"))
    return calls


def _tool_name(word: str, tools: Sequence[ToolSpec]) -> str:
    """The model's name for what a person typed: that name, `server/tool`, or a tool's name if unique."""
    word = word.strip("`")
    if any(spec.name == word for spec in tools):
        return word
    meant = [spec.name for spec in tools if spec.ref == word or spec.ref.rpartition("/")[2] == word]
    return meant[0] if len(meant) == 1 else word


def _tell_results(returns: Sequence[ToolReturnPart]) -> str:
    lines = []
    for part in returns:
        content = part.content if isinstance(part.content, str) else json.dumps(part.content)
        match part.outcome:
            case "success":
                lines.append(f"`{part.tool_name}` returned: {content}")
            case "denied":
                lines.append(f"`{part.tool_name}` was not allowed: {content}")
            case "interrupted":
                lines.append(f"`{part.tool_name}` was interrupted: {content}")
            case _:
                lines.append(f"`{part.tool_name}` failed: {content}")
    return "\n\n".join(lines)
