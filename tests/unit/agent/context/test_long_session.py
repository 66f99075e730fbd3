"""A session of 2,000 messages with tool calls stays under its model's window, whatever the model's tokenizer counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.usage import RequestUsage

from agent.context.folding import compressions_in
from agent.context.summary import ORDERS
from agent.context.tokens import estimate
from agent.events import TextDelta, Usage
from agent.history import dump_each, load
from agent.keeping import closed_history
from agent.ports import ChatState, TurnInput
from agent.snapshot import Route
from tests.unit.agent.context.conversations import asks, calls, results, says
from tests.unit.agent.scripted import Counter, records_in, run_chat, snapshot, stored, strictly_valid, tool

pytestmark = pytest.mark.req("CTX-1")

WINDOW = 16_000
TURNS = 500
REAL_PER_ESTIMATED = 1.4


@dataclass
class Tokenizer:
    """A model that looks something up for each question; its tokens are not those we estimate."""

    largest: int = 0
    summaries: int = 0
    last: Sequence[ModelMessage] = ()

    async def send(self, messages, tools, settings):
        tokens = round(REAL_PER_ESTIMATED * estimate(messages))
        assert tokens < WINDOW
        self.largest = max(self.largest, tokens)
        response = self._respond(messages)
        response.usage = RequestUsage(input_tokens=tokens, output_tokens=estimate([response]))
        for part in response.parts:
            if isinstance(part, TextPart):
                yield TextDelta(text=part.content)
        yield response

    def _respond(self, messages):
        if messages[0].parts[0].content.startswith(ORDERS[:40]):
            self.summaries += 1
            return ModelResponse(parts=[TextPart(content="They counted; " * 30)], finish_reason="stop")
        strictly_valid(messages)
        self.last = list(messages)
        if isinstance(messages[-1].parts[0], ToolReturnPart):
            return ModelResponse(parts=[TextPart(content="It is counted. " * 10)], finish_reason="stop")
        return ModelResponse(parts=[ToolCallPart(tool_name="shop__count", args={"n": 1})])


def turn(number: int, text: str) -> tuple[str, ...]:
    """What a turn with one call leaves."""
    call = f"call_{number}_0_0"
    return dump_each(
        [asks(text), calls(call), results(call, text="one of many " * 20), says("It is counted. " * 10)]
    )


async def test_two_thousand_messages_with_tool_calls_stay_under_the_window(record_property):
    """Every tenth turn is a real one; the others are put beside it as they would have been stored."""
    model, counter = Tokenizer(), Counter(answer="one of many " * 20)
    routes = (Route(name="m", provider=model, context_window=WINDOW),)
    snap = snapshot(model, tool("count", counter.run), routes=routes)
    history: tuple[str, ...] = ()
    usage = Usage()
    for number in range(1, TURNS + 1):
        text = f"question {number} " + "please count " * 12
        if number % 10:
            history += turn(number, text)
            continue
        before = history
        events = await run_chat(snap, text=text, turn_id=number, history=history)
        state = ChatState(history=history, records=records_in(events))
        usage = sum((each.usage for each in compressions_in(state.records)), usage)
        kept = closed_history(TurnInput(turn_id=number, text=text), state, closing="")
        history = stored(history, kept)
        # What is protected is word for word there: the first two messages, the newest, and the question.
        assert history[:2] == before[:2]
        assert model.last[1:3] == load(before[:2])
        assert model.last[-17:-3] == load(before[-14:])
        assert [part.content for part in model.last[-3].parts] == [text]
    assert len(counter.runs) == TURNS // 10
    assert model.summaries
    told = (
        f"{4 * TURNS:,} messages: {model.summaries} summaries ({usage.input_tokens:,} tokens in,"
        f" {usage.output_tokens:,} out), largest request {model.largest:,} of {WINDOW:,} tokens, {len(history)} kept"
    )
    record_property("compression", told)
    print(told)
