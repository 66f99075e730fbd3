"""Redeliveries, twins and growing replies as Slack really has them: the simulator, through the real client library."""

from collections.abc import AsyncIterator

import pytest

from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import Gate
from tests.simulators.slack import SlackSimulator

pytestmark = pytest.mark.req("ADP-4")


@pytest.fixture
async def slack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SlackSimulator]:
    monkeypatch.setattr("adapters.slack.adapter.SEND_GAP_S", 0.0)
    monkeypatch.setattr("adapters.slack.adapter.EDIT_GAP_S", 0.0)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)
    async with SlackSimulator() as sim:
        yield sim
    assert not sim.violations
    assert not sim.refusals, sim.describe()
    assert not sim.pings


async def house_on(slack: SlackSimulator, house_of: Open, **settings: object) -> House:
    adapter = SlackAdapter(
        SlackSettings(bot_token=slack.token, app_token=slack.app_token, api_base=slack.api_url)
    )
    return await house_of(others=[adapter], access={"allow": {"slack": ["*"]}}, **settings)


@pytest.mark.req("DLV-1")
async def test_an_event_that_slack_sends_three_times_is_acknowledged_during_its_turn_and_answered_once(
    slack: SlackSimulator, house_of: Open
) -> None:
    """C52a."""
    house = await house_on(slack, house_of)
    ada = slack.add_user(name="Ada")
    gate = Gate()
    house.model.then(gate)
    said = slack.say(ada, "slow")
    await gate.reached()
    await slack.wait_for_acks()  # while the turn still runs
    for _ in range(2):
        slack.world.announce(said)
        await slack.wait_for_acks()
    gate.open()
    await slack.wait_for_replies(ada, 1)
    await house.quiet()

    assert house.model.questions == ["slow"]
    assert len(slack.replies(ada)) == 1
    assert (slack.deliveries.repeated, slack.deliveries.given_up) == (0, 0)


@pytest.mark.req("DLV-1")
@pytest.mark.parametrize("order", [("message", "app_mention"), ("app_mention", "message")])
async def test_a_mention_that_comes_as_two_events_is_one_turn(
    slack: SlackSimulator, house_of: Open, order: tuple[str, ...]
) -> None:
    """C52b."""
    house = await house_on(slack, house_of)
    general = slack.add_channel("general", [slack.add_user(name="Ada")])
    slack.account.twins = order
    slack.mention(general, "what time is it")
    await slack.wait_for_acks()
    await slack.wait_for_replies(general, 1)
    await house.quiet()

    (question,) = house.model.questions
    assert question.endswith("] what time is it")
    assert len(slack.replies(general)) == 1
    assert slack.deliveries.given_up == 0


@pytest.mark.req("DLV-2", "DLV-5")
@pytest.mark.parametrize(
    ("text", "least"),
    [
        pytest.param(
            "".join(f"line {n:03} of a long answer, and more of it\n" for n in range(250)), 3, id="long"
        ),
        pytest.param("a&" * 1_500, 1, id="ampersands"),
    ],
)
async def test_a_reply_grows_through_messages_whose_edits_slack_takes(
    slack: SlackSimulator, house_of: Open, text: str, least: int
) -> None:
    """C54a, C54b."""
    house = await house_on(slack, house_of)
    ada = slack.add_user(name="Ada")
    cuts = range(0, len(text), len(text) // 6)
    gates = [Gate() for _ in cuts]
    house.model.then(
        tuple(
            part
            for cut, gate in zip(cuts, gates, strict=True)
            for part in (text[cut : cut + cuts.step], gate)
        )
    )
    slack.say(ada, "go")
    for cut, gate in zip(cuts, gates, strict=True):
        await gate.reached()
        written = len("".join(text[: cut + cuts.step].split()))
        await slack.wait_for(lambda written=written: len(_shown(slack)) >= written - 10)
        gate.open()
    await house.quiet()

    assert _shown(slack) == "".join(text.split())
    assert len(slack.replies(ada)) >= least
    assert slack.calls("chat.update")


def _shown(slack: SlackSimulator) -> str:
    """All that the bot shows, without white space."""
    (channel,) = slack.world.channels.values()
    return "".join("".join(one.shown for one in slack.replies(channel)).split())
