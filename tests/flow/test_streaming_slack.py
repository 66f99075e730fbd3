"""Replies that grow by Slack's own streaming, through the real daemon and the real library."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from agent.errors import StreamCut
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House
from tests.flow.scripted import Gate, says
from tests.simulators.faults import Hold
from tests.simulators.slack import Channel, Message, SlackSimulator

pytestmark = pytest.mark.req("DLV-5")

WORDS = [f"word{number}" for number in range(1_200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A thread in which somebody talks to the bot."""

    sim: SlackSimulator
    house: House
    channel: Channel
    root: Message

    def says(self, text: str) -> None:
        self.sim.mention(self.channel, text, thread=self.root)

    def shown(self) -> list[str]:
        return [one.shown for one in self._replies()]

    async def reads(self, *texts: str) -> None:
        try:
            await self.sim.wait_for(lambda: self.shown() == list(texts), WAIT_S)
        except TimeoutError:
            raise AssertionError(f"{texts} was never shown; shown are {self.shown()}") from None

    async def over(self) -> None:
        """Wait until all is sent; then no message may be left growing."""
        await self.house.until("SELECT 1 FROM turns WHERE state = 'done'")
        await self.house.until("SELECT 1 AS x WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE state <> 'sent')")
        assert not any(one.is_streaming for one in self._replies())

    def requests(self) -> list[str]:
        return [call.method for call in self.sim.recorder.calls if call.method.startswith("chat.")]

    async def comes_back(self) -> None:
        """Start again after a crash, with an adapter that remembers nothing."""
        self.house.others = (adapter_on(self.sim),)
        await self.house.start()

    def _replies(self) -> list[Message]:
        return self.sim.replies(self.channel, self.root)


def adapter_on(sim: SlackSimulator) -> SlackAdapter:
    return SlackAdapter(SlackSettings(bot_token=sim.token, app_token=sim.app_token, api_base=sim.api_url))


@pytest.fixture
async def scene(house_of: Open, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)
    for gap in ("EDIT_GAP_S", "SEND_GAP_S"):
        monkeypatch.setattr(f"adapters.slack.adapter.{gap}", 0.0)
    async with SlackSimulator() as sim:
        ada = sim.add_user(name="Ada")
        channel = sim.add_channel("general", [ada])
        root = sim.say(channel, "let us talk here")
        sim.deliveries.open.clear()  # it was said before there was a bot
        house = await house_of(others=(adapter_on(sim),), access={"allow": {"slack": ["*"]}})
        await sim.wait_for(lambda: sim.calls("apps.connections.open"))
        yield Scene(sim=sim, house=house, channel=channel, root=root)
        await house.crash()
        assert not sim.violations


async def test_it_grows_in_a_stream_and_ends_as_any_message(scene: Scene) -> None:
    first, second = Gate(), Gate()
    scene.house.model.then(("It **gr", first, "ows** and", second, " is done."))
    scene.says("go")
    await scene.reads("It")
    first.open()
    await scene.reads("It grows and")
    second.open()
    await scene.reads("It grows and is done.")
    await scene.over()

    assert scene.requests()[0] == "chat.startStream"
    assert scene.requests()[-2:] == ["chat.stopStream", "chat.update"]
    assert "chat.postMessage" not in scene.requests()
    (call,) = scene.sim.calls("chat.startStream")
    assert call.params["recipient_user_id"] == next(iter(scene.channel.members))


async def test_what_was_all_shown_is_ended_all_the_same(scene: Scene) -> None:
    end = Gate()
    scene.house.model.then(("All of it.", end))
    scene.says("go")
    await scene.reads("All of it.")
    await scene.house.until("SELECT 1 FROM outbox WHERE state = 'growing'")
    end.open()
    await scene.over()
    assert scene.shown() == ["All of it."]


async def test_a_long_reply_goes_on_in_the_next_message_and_the_full_one_is_ended(scene: Scene) -> None:
    middle, end = Gate(), Gate()
    half = len(WORDS) // 2 + 60
    scene.house.model.then((" ".join(WORDS[:half]), middle, " " + " ".join(WORDS[half:]), end))
    scene.says("go")
    await middle.reached()
    await scene.sim.wait_for(lambda: any("word659" in text for text in scene.shown()), WAIT_S)
    middle.open()
    await end.reached()
    await scene.sim.wait_for(lambda: any("word1199" in text for text in scene.shown()), WAIT_S)
    streaming = [one.is_streaming for one in scene.sim.replies(scene.channel, scene.root)]
    assert streaming == [False] * (len(streaming) - 1) + [True]
    end.open()
    await scene.over()

    assert len(streaming) >= 3
    assert " ".join(scene.shown()) == " ".join(WORDS)
    assert len(scene.sim.calls("chat.startStream")) == len(streaming)


@pytest.mark.req("EVT-1")
async def test_an_attempt_that_was_cut_is_replaced_in_place(scene: Scene) -> None:
    cut = Gate()
    scene.house.model.then(("The wrong beginning", cut, StreamCut("cut")), ("The ", "right answer"))
    scene.says("go")
    await scene.reads("The wrong beginning")
    cut.open()
    await scene.reads("The right answer")
    await scene.over()


async def test_where_the_workspace_has_no_streams_it_grows_by_edits(scene: Scene) -> None:
    scene.sim.refuse("feature_not_enabled", "chat.startStream")
    more = Gate()
    scene.house.model.then(("one", more, " two"), ("three", Gate()))
    scene.says("go")
    await scene.reads("one")
    more.open()
    await scene.reads("one two")
    await scene.over()
    assert scene.requests()[:3] == ["chat.startStream", "chat.postMessage", "chat.update"]
    scene.says("go")
    await scene.reads("one two", "three")
    assert len(scene.sim.calls("chat.startStream")) == 1


@pytest.mark.req("DLV-7", "EVT-3")
async def test_after_a_crash_in_the_middle_the_same_message_shows_the_whole_answer(scene: Scene) -> None:
    scene.house.model.then(("Once upon", Gate()))
    scene.says("go")
    await scene.reads("Once upon")
    await scene.house.until("SELECT 1 FROM outbox WHERE state = 'growing'")
    await scene.house.crash()
    again = Gate()
    scene.house.model.then(("Twice", again, " and for all"))
    await scene.comes_back()
    await scene.reads("Twice")
    again.open()
    await scene.reads("Twice and for all")
    await scene.over()


@pytest.mark.req("DLV-7")
@pytest.mark.parametrize("is_begun", [True, False])
async def test_after_a_crash_in_the_beginning_it_is_found_by_its_words_or_begun_once(
    scene: Scene, is_begun: bool
) -> None:
    scene.sim.faults.add(Hold(name="crash", applied=is_begun), method="chat.startStream")
    scene.house.model.then(("Once upon", Gate()))
    scene.says("go")
    async with asyncio.timeout(WAIT_S):
        await scene.sim.wait_for(
            lambda: any(call.status is None for call in scene.sim.calls("chat.startStream")), WAIT_S
        )
    await scene.house.crash()
    scene.house.model.then(says("Once upon a time"))
    await scene.comes_back()
    await scene.reads("Once upon a time")
    await scene.over()


@pytest.mark.req("DLV-7")
async def test_a_crash_before_the_last_edit_leaves_no_stream_open(scene: Scene) -> None:
    end = Gate()
    scene.house.model.then(("Once upon", end, " a time"))
    scene.says("go")
    await scene.reads("Once upon")
    scene.sim.faults.add(Hold(name="crash"), method="chat.stopStream")
    end.open()
    await scene.sim.wait_for(
        lambda: any(call.status is None for call in scene.sim.calls("chat.stopStream")), WAIT_S
    )
    await scene.house.until("SELECT 1 FROM turns WHERE state = 'done'")
    await scene.house.crash()
    await scene.comes_back()
    await scene.reads("Once upon a time")
    await scene.over()
