"""Whatever a model service does wrong, a turn ends visibly and leaves a history that service takes again.

The real SDK talks to the simulated service, which refuses every request that breaks a rule of the API.
"""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from agent.events import ChatEnded, Failed, Noted, Responded, ToolReturned
from agent.history import has_visible, load
from agent.keeping import closed_history
from agent.ports import ChatState, TurnInput
from agent.providers import table
from agent.settings import ModelProfile
from agent.snapshot import Route, Snapshot
from agent.tools.registry import Catalogue
from agent.tools.results import ResultFolder
from tests.simulators.faults import Hold, Refuse
from tests.simulators.model import Answer, ModelSimulator, ToolCall, context_too_long, rate_limited
from tests.unit.agent.scripted import NO_PAUSES, Counter, records_in, run_chat, stored, strictly_valid, tool

pytestmark = pytest.mark.req("AGT-7", "AGT-8")

TURNS = 30
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


@pytest.fixture
async def model() -> AsyncIterator[ModelSimulator]:
    async with ModelSimulator() as simulator:
        simulator.default = lambda asked: Answer(text="at last")
        yield simulator


async def test_every_turn_ends_visibly_and_no_history_is_refused(model, tmp_path):
    chance = random.Random(20261130)
    counter = Counter()
    history: tuple[str, ...] = ()
    async with AsyncExitStack() as stack:
        profile = ModelProfile(
            provider="openai", model="m", base_url=model.base_url, first_event_timeout_s=0.2
        )
        provider = table.open_provider(profile, demo_delay_s=0, stack=stack)
        for turn_id in range(1, TURNS + 1):
            snap = Snapshot(
                agent="default",
                head="You are a test.",
                routes=(Route(name="m", provider=provider),),
                tools=Catalogue([tool("a", counter.run)]),
                results=ResultFolder(tmp_path),
                retries=NO_PAUSES,
            )
            model.script(*(chance.choice(BAD if chance.random() < 0.6 else GOOD) for _ in range(3)))
            events = await run_chat(snap, text=f"turn {turn_id}", turn_id=turn_id, history=history)
            assert isinstance(events[-1], ChatEnded)
            said = [e.text for e in events if isinstance(e, Responded) and has_visible(e.text)]
            told = [e.message for e in events if isinstance(e, Failed | Noted)]
            assert said or told
            assert "sk-secret" not in str(told)
            given = TurnInput(turn_id=turn_id, text=f"turn {turn_id}")
            state = ChatState(history=history, records=records_in(events))
            history = stored(history, closed_history(given, state, closing="the turn failed"))
            assert all(e.content for e in events if isinstance(e, ToolReturned))
    strictly_valid(load(history), closed=True)
    assert model.rejected == 0, model.describe()
    assert counter.runs
