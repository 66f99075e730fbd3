"""Shortens a conversation: cut, summarise, count again, and again with less protected, down to a floor.

    too many tokens → protect the head, the tail and what the user said last → the middle becomes one summary
        → counted again: still too many → a smaller tail, again;  else → done

Nothing is lost before the summary stands: each step yields a `Compressed`, and only that changes anything.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from agent.context.cut import Cut, find_cut
from agent.context.summary import NoSummary, Summarist
from agent.context.tokens import Count, count, estimate, estimate_tools, mark_of
from agent.events import Compressed
from agent.history import dump_each
from agent.provider import ToolSpec

_SUMMARY_TOKENS = (50, 2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What would be sent now: `pin_from` is where the running turn begins, in `messages`."""

    system: ModelMessage
    messages: tuple[ModelMessage, ...]
    pin_from: int
    tools: Sequence[ToolSpec] = ()

    def count(self) -> Count:
        """The request's tokens."""
        return count([self.system, *self.messages], self.tools)

    def least(self) -> int:
        """The tokens that no compression can take away: system prompt, tools, and what the user just said."""
        said = [
            part
            for message in self.messages[self.pin_from :]
            if isinstance(message, ModelRequest) and mark_of(message) is None
            for part in message.parts
            if isinstance(part, UserPromptPart)
        ]
        kept = estimate([self.system, *([ModelRequest(parts=said)] if said else [])])
        return round(self.count().scale * (kept + estimate_tools(self.tools)))

    def after(self, cut: Cut, message: ModelMessage) -> "Conversation":
        """The conversation with the cut made."""
        messages = (*self.messages[: cut.start], message, *self.messages[cut.stop :])
        gone = cut.stop - cut.start - 1
        pin_from = self.pin_from - gone if self.pin_from >= cut.stop else min(self.pin_from, cut.start)
        return replace(self, messages=messages, pin_from=pin_from)


def newest_question(messages: Sequence[ModelMessage]) -> int:
    """Where the user spoke last; the length of the list if never."""
    for place in range(len(messages) - 1, -1, -1):
        message, mark = messages[place], mark_of(messages[place])
        if isinstance(message, ModelRequest) and any(
            isinstance(part, UserPromptPart) and (mark is None or number != mark.part)
            for number, part in enumerate(message.parts)
        ):
            return place
    return len(messages)


async def compress(
    conversation: Conversation,
    summarist: Summarist,
    steps: Sequence[tuple[int, int]],
    *,
    limit: int,
    must: bool,
) -> AsyncGenerator[Compressed | NoSummary, None]:
    """Shorten a conversation until it has at most `limit` tokens, or can give no more.

    Args:
        conversation: As it is.
        summarist: Writes the summaries.
        steps: What is protected, at the head and at the end, one step after the other (`cut.protections`).
        limit: In tokens.
        must: Also where little is gained; else only what is worth a request.

    Yields:
        Each step as it is done; `NoSummary` as the last value if one failed.
    """
    most = min(max(limit // 10, _SUMMARY_TOKENS[0]), _SUMMARY_TOKENS[1])
    for number, (first, last) in enumerate(steps, 1):
        cut = find_cut(conversation.messages, first=first, last=last, pin_from=conversation.pin_from)
        if cut is None:
            continue
        before = conversation.count()
        gone = round(before.scale * estimate(cut.middle))
        if number < len(steps) and before.tokens - gone + most > limit:
            continue  # would not do: a summary costs a request, so the tail shrinks first
        if gone < 2 * most and not must:
            continue
        summary = await summarist.write(cut.middle, most_tokens=most)
        if isinstance(summary, NoSummary):
            yield summary
            return
        message = cut.joined(summary.text, before.scale)
        conversation = conversation.after(cut, message)
        counted = conversation.count()
        yield Compressed(
            start=cut.start,
            stop=cut.stop,
            message_json=dump_each([message])[0],
            tokens_before=before.tokens,
            tokens_after=counted.tokens,
            usage=summary.usage,
        )
        if counted.tokens <= limit:
            return
