"""Many turns with a model service that does everything wrong, in random order; `make soak` runs a thousand.

The real SDK talks to the simulated service, which refuses every request that breaks a rule of its API. After each
turn: something visible came of it. At the end: nothing was refused, and the history is valid for every provider.
What was compressed on the way, and what that cost, is counted.

    python -m tests.soak [--turns 1000] [--seed 1] [--wire openai|anthropic]
"""

import argparse
import asyncio
import logging
import random
import tempfile
from collections import Counter as Tally
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from agent.context.folding import compressions_in
from agent.context.summary import ORDERS
from agent.events import AgentEvent, ChatEnded, Failed, Noted, Responded, ToolReturned, Usage
from agent.history import has_visible, load
from agent.keeping import closed_history
from agent.ports import ChatState, TurnInput
from agent.providers import table
from agent.settings import ModelProfile
from agent.snapshot import Route, Snapshot
from agent.tools.registry import Catalogue
from agent.tools.results import ResultFolder
from gateway.redaction import Redactor
from tests.simulators.faults import Hold, Refuse
from tests.simulators.model import Answer, ModelSimulator, ToolCall, context_too_long, rate_limited
from tests.simulators.model.asked import Asked, text_of
from tests.unit.agent.scripted import NO_PAUSES, Counter, records_in, run_chat, stored, strictly_valid, tool

WINDOW = 12_000
TIMEOUT_S = 0.2

HALF = ToolCall(name="shop__a", arguments='{"path": "a')
BAD = (
    rate_limited(0.01),
    Refuse(status=500, text="oops"),
    Refuse(status=401, text="bad key sk-secretsecret1 at https://api.example.org /home/me"),
    context_too_long(),
    Hold(name="never"),
    Answer(text=""),
    Answer(text="\u200b"),
    Answer(reasoning="hm"),
    Answer(text="half of it", cut_after=1, delta_characters=4),
    Answer(text="half of it", cut_after=1, delta_characters=4, cut_how="clean"),
    Answer(calls=(ToolCall(name="shop__a", arguments='{"x": 1}', pieces=4),), cut_after=2, cut_how="clean"),
    Answer(calls=(HALF,)),
    Answer(calls=(HALF, ToolCall(name="shop__a"), ToolCall(name="no such/tool"))),
    Answer(text="cut", finish="length"),
    Answer(text="", finish="content_filter"),
)
GOOD = (Answer(text="fine"), Answer(calls=(ToolCall(name="shop__a", arguments='{"n": 1}'),), text="I look."))


@dataclass(slots=True)
class Found:
    """What a run came to: how turns ended, and what compression did; `refused` must be 0."""

    outcomes: Tally[str] = field(default_factory=Tally)
    summaries: int = 0
    usage: Usage = field(default_factory=Usage)
    largest: int = 0
    messages: int = 0
    tool_runs: int = 0
    refused: int = 0

    def __str__(self) -> str:
        return (
            f"turns by outcome: {dict(self.outcomes)}\n{self.summaries} summaries ({self.usage.input_tokens:,} tokens"
            f" in, {self.usage.output_tokens:,} out), {self.messages} messages kept, largest request"
            f" {self.largest:,} of {WINDOW:,} tokens, {self.tool_runs} tool runs, {self.refused} requests refused"
        )


async def soak(turns: int, *, seed: int, wire: str, folder: Path) -> Found:
    """Let that many turns meet random faults.

    Raises:
        AssertionError: a turn ended without a word, or a history is not valid.
    """
    chance, counter, found = random.Random(seed), Counter(answer="counted " * 20), Found()
    history: tuple[str, ...] = ()
    async with ModelSimulator() as model, AsyncExitStack() as stack:
        model.default = lambda asked: Answer(text=_default(asked))
        table.load([wire])
        profile = ModelProfile(
            provider=wire,
            model="m",
            base_url=model.url if wire == "anthropic" else model.base_url,
            api_key="sk-simulated",
            first_event_timeout_s=TIMEOUT_S,
        )
        provider = table.open_provider(profile, demo_delay_s=0, stack=stack)
        for turn_id in range(1, turns + 1):
            snapshot = Snapshot(
                agent="default",
                head="You are a test.",
                routes=(Route(name="m", provider=provider, context_window=WINDOW),),
                tools=Catalogue([tool("a", counter.run)]),
                results=ResultFolder(folder),
                mask=Redactor().text,
                retries=NO_PAUSES,
            )
            replies = (chance.choice(BAD if chance.random() < 0.6 else GOOD) for _ in range(3))
            model._rules.clear()
            model.script(*replies)
            text = f"turn {turn_id} " + "word " * chance.choice([1, 10, 400])
            events = await run_chat(snapshot, text=text, turn_id=turn_id, history=history)
            found.outcomes[_outcome(events)] += 1
            state = ChatState(history=history, records=records_in(events))
            for compression in compressions_in(state.records):
                found.summaries += 1
                found.usage += compression.usage
            if not any(isinstance(e, Failed) and e.kind == "context" for e in events):
                given = TurnInput(turn_id=turn_id, text=text)
                history = stored(history, closed_history(given, state, closing="the turn failed"))
        strictly_valid(load(history), closed=True)
        requests = [body for body in model.bodies if ORDERS[:40] not in str(body)[:400]]
        found.largest = max(sum(len(str(m)) for m in body["messages"]) // 4 for body in requests)
        found.refused = model.rejected
        assert found.refused == 0, model.describe()
    found.messages, found.tool_runs = len(history), len(counter.runs)
    return found


def _default(asked: Asked) -> str:
    is_summary = any(ORDERS[:40] in text_of(message["content"]) for message in asked.messages[:1])
    return "What was said, in short." if is_summary else "at last"


def _outcome(events: list[AgentEvent]) -> str:
    assert isinstance(events[-1], ChatEnded)
    told = [e.message for e in events if isinstance(e, Failed | Noted)]
    said = [e.text for e in events if isinstance(e, Responded) and has_visible(e.text)]
    assert said or told, "a turn ended without a word"
    assert "sk-secret" not in str(told)
    assert all(e.content for e in events if isinstance(e, ToolReturned))
    return next(
        (f"failed ({e.kind})" for e in events if isinstance(e, Failed)), "answered" if said else "noted"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wire", choices=["openai", "anthropic"], default=None)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    for wire in [given.wire] if given.wire else ["openai", "anthropic"]:
        with tempfile.TemporaryDirectory(prefix="parley-soak-") as folder:
            found = asyncio.run(soak(given.turns, seed=given.seed, wire=wire, folder=Path(folder)))
        print(f"{wire}: {given.turns} turns, seed {given.seed}\n{found}")


if __name__ == "__main__":
    main()
