"""A response as `turns` holds it: cheap while it is short, woken for more only when all before is shown."""

import asyncio

import pytest

from gateway.adapter import Capabilities
from gateway.delivery.ledger import Ledger
from gateway.delivery.live import Live, Wait
from gateway.delivery.manuscript import Manuscript
from gateway.delivery.pacing import Pauses
from gateway.delivery.platforms import Platforms
from gateway.delivery.stream import Place, Stream
from gateway.document import plain
from gateway.messages import OutboundMessage, Receipt, Target

pytestmark = pytest.mark.req("DLV-5")

TARGET = Target(platform="memory", account="bot", chat_id="1")
ABLE = Capabilities(measure=lambda piece: len(plain(piece)), limit=100, edit_limit=50, streaming=True)


class Stage:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.appeared = asyncio.Event()
        self.times = 0
        self.left = 0

    def appear(self, stream: Stream) -> Manuscript | None:
        self.appeared.set()
        return Manuscript(measure=ABLE.measure, limit=50)

    def go_on(self, stream: Stream) -> None:
        self.times += 1

    def leave(self, stream: Stream) -> None:
        self.left += 1

    def forget(self, row_id: int) -> None:
        raise NotImplementedError


def a_stream(stage: Stage, monkeypatch: pytest.MonkeyPatch, *, look_s: float = 0.0) -> Stream:
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", look_s)
    monkeypatch.setattr("gateway.delivery.stream.SECOND_LOOK_S", look_s)
    place = Place(target=TARGET, turn_id=1, prefix="r0")
    return Stream(place, stage, None, lambda: ABLE, max_pieces=10)  # type: ignore[arg-type]  # nothing is posted here


async def test_a_response_that_is_whole_before_the_first_look_never_appears(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    stream = a_stream(stage, monkeypatch, look_s=60)
    for _ in range(100):
        stream.feed("word " * 4)
    ending = await stream.complete("word " * 400)

    assert (stage.appeared.is_set(), stage.left, ending.may_be_shown) == (False, 0, False)
    assert [len(plain(piece)) <= 100 for piece in ending.pieces if piece] == [True] * len(ending.pieces)


async def test_the_stage_hears_of_more_once_and_again_when_all_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    stream = a_stream(stage, monkeypatch)
    stream.feed("some")
    await asyncio.wait_for(stage.appeared.wait(), 10)
    for _ in range(10):
        stream.feed(" words")
    assert stage.times == 1
    stream.wait_for_more()
    for _ in range(10):
        stream.feed(" more")
    assert stage.times == 2
    assert stream.manuscript is not None
    assert stream.manuscript.source().text == "some" + " words" * 10 + " more" * 10


async def test_what_was_taken_back_before_the_first_look_is_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    stream = a_stream(stage, monkeypatch)
    stream.feed("void")
    stream.take_back()
    stream.feed("stands")
    await asyncio.wait_for(stage.appeared.wait(), 10)
    assert stream.manuscript is not None
    assert stream.manuscript.source().text == "stands"


async def test_after_its_end_a_stream_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stream = a_stream(stage, monkeypatch)
    stream.feed("some")
    await asyncio.wait_for(stage.appeared.wait(), 10)
    stream.close()
    stream.close()
    assert stage.left == 1


class SendsOnly:
    """A platform that can neither edit nor stream."""

    platform = "memory"
    account = "bot"
    capabilities = ABLE

    async def run(self, inbox: object) -> None:
        raise NotImplementedError

    async def send(self, message: OutboundMessage) -> Receipt:
        raise NotImplementedError


async def test_a_platform_that_cannot_edit_shows_no_reply_before_it_is_whole() -> None:
    platforms = Platforms()
    platforms.connected(SendsOnly())  # type: ignore[arg-type]  # of an adapter, what is looked at here
    live = Live(
        platforms, None, Pauses(), write=None, nudge=lambda dest: None, now_s=lambda: 0.0, max_pieces=10
    )  # type: ignore[arg-type]
    stream = Stream(Place(target=TARGET, turn_id=1, prefix="r0"), live, None, lambda: ABLE, max_pieces=10)  # type: ignore[arg-type]
    assert live.appear(stream) is None
    assert not live.grows_in(stream.place.dest)


class Edits(SendsOnly):
    """A platform that can edit."""

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        raise NotImplementedError


async def test_two_replies_in_one_chat_share_its_pace_and_take_turns() -> None:
    now_s = 100.0
    platforms = Platforms()
    platforms.connected(Edits())  # type: ignore[arg-type]
    ledger = Ledger.__new__(Ledger)
    ledger.new_key, ledger.wake = lambda: "key", lambda dest: None
    live = Live(
        platforms, ledger, Pauses(), write=None, nudge=lambda dest: None, now_s=lambda: now_s, max_pieces=10
    )  # type: ignore[arg-type]
    streams = [
        Stream(Place(target=TARGET, turn_id=turn, prefix="r0"), live, ledger, lambda: ABLE, max_pieces=10)
        for turn in (1, 2)
    ]
    for stream in streams:
        stream.manuscript = live.appear(stream)
        assert stream.manuscript is not None
        stream.manuscript.add(f"reply {stream.place.turn_id}")
    dest = streams[0].place.dest

    assert callable(await live.show_more(dest))  # the opening of the first one's message
    wait = await live.show_more(dest)
    assert wait == Wait(seconds=pytest.approx(ABLE.edit_gap_s, rel=0.01))  # a little more, for its length
    now_s += ABLE.edit_gap_s
    assert live._chats[dest].streams == streams[::-1]
    for stream in streams:
        stream.close()
    assert await live.show_more(dest) is None
