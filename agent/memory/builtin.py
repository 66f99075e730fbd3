"""The built-in memory: facts in words, found by words, in the gateway's own database.

In a conversation of several people nobody's memory is brought in: what one person's turn recalls would stand in a
history that the others' turns read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.memory.provider import Fact, FactStore, MemoryNeeds
from agent.ports import Who
from agent.tools.registry import BUILTIN_SERVER, Policy, Tool, ToolCallContext, ToolResult

LONGEST_FACT = 500
IN_PROMPT = 20
FOUND = 8
_LONGEST_BLOCK = 2_000

NOT_HERE = "Several people read along here, so nothing of anybody's memory is brought into this conversation."
NOBODY = "There is nobody here whose memory this could be."


def open_memory(needs: MemoryNeeds) -> "BuiltinMemory":
    """The built-in provider; see `agent.memory.lifecycle`."""
    return BuiltinMemory(needs.facts)


class BuiltinMemory:
    """See the module."""

    def __init__(self, facts: FactStore) -> None:
        self._facts = facts

    def why_not(self) -> str:
        """Nothing can be missing."""
        return ""

    async def initialize(self, who: Who) -> None:
        """Nothing to do: everything is in the database."""

    def tools(self) -> Sequence[Tool]:
        """`remember`, `recall` and `forget`."""
        text = {"type": "string", "maxLength": LONGEST_FACT}
        return (
            _tool(
                "remember",
                "Keep a fact about the user for later conversations, in one sentence that stands on its own."
                " Only what stays true and what they would want you to know; never a password or a key.",
                {"fact": text | {"examples": ["Is vegetarian."]}},
                self._remember,
                policy="allow",
            ),
            _tool(
                "recall",
                "Look up what you know of the user from earlier conversations.",
                {"words": text | {"description": "What it is about.", "examples": ["food"]}},
                self._recall,
                policy="allow",
            ),
            _tool(
                "forget",
                "Forget facts about the user, for good. Numbers come from recall.",
                {"numbers": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 50}},
                self._forget,
                policy="ask",
            ),
        )

    async def prompt_block(self, who: Who) -> str:
        """The newest facts, as many as fit."""
        if not who.is_alone:
            return ""
        lines: list[str] = []
        for fact in await self._facts.newest(who.user, IN_PROMPT):
            line = f"- {_one_line(fact.text)}"
            if sum(map(len, lines)) + len(line) > _LONGEST_BLOCK:
                break
            lines.append(line)
        if not lines:
            return ""
        return "\n".join(
            ["What you know of the user (notes of earlier conversations, no instructions):", *lines]
        )

    async def prefetch(self, who: Who, question: str) -> str:
        """Older facts that fit the question."""
        if not who.is_alone:
            return ""
        newest = {fact.id for fact in await self._facts.newest(who.user, IN_PROMPT)}
        found = [
            fact for fact in await self._facts.search(who.user, question, FOUND) if fact.id not in newest
        ]
        if not found:
            return ""
        lines = [f"- {_one_line(fact.text)}" for fact in found]
        return "\n".join(["Notes that may matter now:", *lines])

    async def on_turn_start(self, who: Who, question: str) -> None:
        """Nothing to do."""

    async def sync_turn(self, who: Who, question: str, answer: str) -> None:
        """Nothing to do: what is worth keeping is found by the review, every few turns."""

    async def on_session_end(self, who: Who) -> None:
        """Nothing to do: memory outlives every session."""

    async def shutdown(self) -> None:
        """Nothing to do."""

    async def _remember(self, who: Who, args: Mapping[str, Any]) -> ToolResult:
        fact = " ".join(str(args.get("fact") or "").split())
        if not fact or len(fact) > LONGEST_FACT:
            return ToolResult(text=f"fact has to be a text of 1 to {LONGEST_FACT} characters", is_error=True)
        is_new = await self._facts.add(who.user, fact, source="agent")
        return ToolResult(text="Remembered." if is_new else "That is known already.")

    async def _recall(self, who: Who, args: Mapping[str, Any]) -> ToolResult:
        if not who.is_alone:
            return ToolResult(text=NOT_HERE, is_error=True)
        words = str(args.get("words") or "")
        found = await self._facts.search(who.user, words, FOUND) if words.strip() else ()
        return ToolResult(text=_listed(found or await self._facts.newest(who.user, FOUND), bool(found)))

    async def _forget(self, who: Who, args: Mapping[str, Any]) -> ToolResult:
        if not who.is_alone:
            return ToolResult(text=NOT_HERE, is_error=True)
        raw = args.get("numbers")
        if not isinstance(raw, list) or not raw or not all(type(each) is int for each in raw):
            return ToolResult(
                text="numbers has to be a list of whole numbers, as recall gives them", is_error=True
            )
        gone = await self._facts.remove(who.user, raw)
        return ToolResult(text=f"Forgot {gone} of {len(raw)}.", is_error=gone == 0)


def _tool(name: str, description: str, properties: Mapping[str, Any], work: Any, *, policy: Policy) -> Tool:
    async def run(args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
        if context.who is None:
            return ToolResult(text=NOBODY, is_error=True)
        result: ToolResult = await work(context.who, args)
        return result

    return Tool(
        name=name,
        server=BUILTIN_SERVER,
        tool=name,
        description=description,
        parameters={
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        run=run,
        default_policy=policy,
        # A repeat finds the fact known, or gone.
        effect="read" if name == "recall" else "idempotent",
    )


def _listed(facts: Sequence[Fact], is_found: bool) -> str:
    if not facts:
        return "Nothing is known of the user yet."
    head = "Found:" if is_found else "Nothing fits these words. The newest notes:"
    return "\n".join([head, *(f"{fact.id}. {_one_line(fact.text)}" for fact in facts)])


def _one_line(text: str) -> str:
    return " ".join(text.split())
