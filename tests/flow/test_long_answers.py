"""An answer too long to be kind: its beginning is shown, and all of it comes as a file."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from adapters.memory.adapter import Shown
from gateway.delivery.enclosing import ANSWER_CAPTION, OPENING_NOTE
from gateway.errors import MessageRejected, OutcomeUnknown, SendError
from gateway.messages import OutboundMessage
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House, Person
from tests.flow.scripted import Gate, says

pytestmark = pytest.mark.req("DLV-8")

LIMIT = 100
LINES = [f"Line {number} says a little more about trees." for number in range(60)]
ANSWER = "# All about trees\n\n" + "\n\n".join(LINES)
SMALL = {"limit": LIMIT, "edit_limit": LIMIT}


@pytest.fixture
async def house(house_of: Open) -> House:
    return await house_of(platform=SMALL)


async def asks(house: House, answer: str = ANSWER) -> Person:
    ann = house.person()
    house.model.then(says(answer))
    ann.says("tell me")
    return ann


async def gets_file(person: Person) -> Shown:
    """Wait for a message with a file."""
    found: list[Shown] = []

    def is_there() -> bool:
        found[:] = [shown for shown in person.platform.shown if shown.message.file is not None]
        return bool(found)

    async with asyncio.timeout(WAIT_S):
        await person.platform.wait_until(is_there)
    return found[-1]


def file_of(shown: Shown) -> tuple[str, str, str]:
    file = shown.message.file
    assert file is not None
    return file.name, file.mime_type, file.data.decode()


THE_FILE = ("all-about-trees.md", "text/markdown", ANSWER)


def refuse_file(*errors: SendError) -> Callable[[OutboundMessage], None]:
    left = list(errors)

    def check(message: OutboundMessage) -> None:
        if message.file is not None and left:
            raise left.pop(0)

    return check


async def states(house: House) -> list[Any]:
    return await house.values("SELECT state FROM outbox ORDER BY dest_seq")


async def test_the_beginning_is_shown_and_then_the_whole_as_a_file(house: House) -> None:
    ann = await asks(house)
    shown = await gets_file(ann)
    await house.quiet()

    assert file_of(shown) == THE_FILE
    opening, caption = ann.sees()
    assert opening.startswith("All about trees\n\nLine 0 says")
    assert opening.endswith(OPENING_NOTE)
    assert len(opening) <= LIMIT
    assert caption == ANSWER_CAPTION
    assert await states(house) == ["sent", "sent"]


async def test_ten_messages_are_not_too_many(house: House) -> None:
    ann = await asks(house, "\n\n".join("x" * 90 + str(number) for number in range(10)))
    await ann.gets("x9")
    await house.quiet()

    assert len(ann.sees()) == 10
    assert all(shown.message.file is None for shown in house.platform.shown)


async def test_how_many_messages_are_too_many_is_configured(house_of: Open) -> None:
    house = await house_of(platform=SMALL, delivery={"max_pieces": 2})
    ann = await asks(house, "\n\n".join(LINES[:6]))
    shown = await gets_file(ann)
    await house.quiet()

    assert file_of(shown)[0] == "line-0-says-a-little-more-about-trees.md"
    assert len(ann.sees()) == 2


@pytest.mark.parametrize("limit_bytes", [0, 100])
async def test_where_no_such_file_can_be_sent_all_pieces_come(house_of: Open, limit_bytes: int) -> None:
    house = await house_of(platform={**SMALL, "file_limit_bytes": limit_bytes})
    ann = await asks(house)
    await ann.gets(LINES[-1])
    await house.quiet()

    assert " ".join(" ".join(ann.sees()).split()) == " ".join(ANSWER.removeprefix("# ").split())


async def test_a_refused_file_is_followed_by_all_pieces(house: House) -> None:
    house.platform.refuse = refuse_file(MessageRejected("no files here"))
    ann = await asks(house)
    await ann.gets(LINES[-1])
    await house.quiet()

    assert (await states(house))[:2] == ["sent", "failed"]
    said = "\n\n".join(ann.sees()[1:])
    assert " ".join(said.split()) == " ".join(ANSWER.removeprefix("# ").split())


@pytest.mark.req("DLV-7")
async def test_a_file_of_unknown_outcome_is_noticed_and_shown_again_when_asked(house: House) -> None:
    house.platform.refuse = refuse_file(OutcomeUnknown("time-out"))
    ann = await asks(house)
    await ann.gets("A part of my last answer may not have arrived. /again shows it once more.")
    ann.says("/again")
    shown = await gets_file(ann)
    await house.quiet()

    assert file_of(shown) == THE_FILE
    assert await house.values("SELECT COUNT(*) FROM outbox WHERE state = 'unknown'") == [0]


@pytest.mark.req("DLV-6")
async def test_a_crash_before_the_file_is_sent_loses_nothing(house: House) -> None:
    slow = Gate()
    house.platform.linger = lambda message: slow.enter()
    ann = await asks(house)
    await slow.reached()  # the beginning is shown, and nobody has heard so
    await house.crash()
    house.platform.linger = None
    await house.start()
    shown = await gets_file(ann)
    await house.quiet()

    assert file_of(shown) == THE_FILE
    assert [text for text in ann.sees() if text == ANSWER_CAPTION] == [ANSWER_CAPTION]


@pytest.mark.req("DLV-7")
async def test_a_crash_while_the_file_is_sent_repeats_nothing_and_says_so(house: House) -> None:
    slow = Gate()

    async def linger(message: OutboundMessage) -> None:
        if message.file is not None:
            await slow.enter()

    house.platform.linger = linger
    ann = await asks(house)
    await slow.reached()
    await house.crash()
    house.platform.linger = None
    await house.start()
    await ann.gets("may not have arrived")
    await house.quiet()

    assert sum(shown.message.file is not None for shown in house.platform.shown) == 1


class TestGrowing:
    """The same where a reply is shown while it is written."""

    @pytest.fixture(autouse=True)
    def _at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
        monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)

    @pytest.fixture
    async def growing(self, house_of: Open) -> House:
        return await house_of(platform={**SMALL, "streaming": True}, delivery={"max_pieces": 3})

    @pytest.mark.req("DLV-5")
    async def test_it_stops_after_the_last_message_that_is_kind_and_ends_with_the_file(
        self, growing: House
    ) -> None:
        ann = growing.person()
        gates = [Gate() for _ in range(6)]
        words = [
            part for n in range(6) for part in ("\n\n".join(LINES[n * 10 : n * 10 + 10]) + "\n\n", gates[n])
        ]
        growing.model.then(tuple(words))
        ann.says("tell me")
        for gate in gates:
            await gate.reached()
            async with asyncio.timeout(WAIT_S):
                await growing.platform.wait_until(lambda: len(ann.sees()) == 3)
            gate.open()
        shown = await gets_file(ann)
        await growing.quiet()

        *begun, caption = ann.sees()
        assert " ".join(" ".join(begun).split()) == " ".join(" ".join(LINES[: len(begun) * 2]).split())
        assert (len(begun), caption) == (3, ANSWER_CAPTION)
        assert file_of(shown)[2] == "\n\n".join(LINES) + "\n\n"
        assert await growing.values("SELECT DISTINCT state FROM outbox") == ["sent"]
        assert growing.daemon._delivery._live._of_row == {}

    async def test_what_was_begun_when_it_is_whole_is_finished_and_the_rest_is_in_the_file(
        self, growing: House
    ) -> None:
        ann = growing.person()
        pause = Gate()
        growing.model.then((LINES[0], pause, "\n\n" + "\n\n".join(LINES[1:])))
        ann.says("tell me")
        await ann.gets(LINES[0])
        pause.open()
        shown = await gets_file(ann)
        await growing.quiet()

        assert ann.sees() == ["\n\n".join(LINES[:2]), ANSWER_CAPTION]
        assert file_of(shown)[2] == "\n\n".join(LINES)

    async def test_after_a_crash_the_next_run_ends_the_messages_of_the_first_and_adds_the_file(
        self, growing: House
    ) -> None:
        ann = growing.person()
        pause = Gate()
        growing.model.then(("\n\n".join(LINES[:4]), pause), says("\n\n".join(LINES)))
        ann.says("tell me")
        await pause.reached()
        await growing.until("SELECT 1 FROM outbox WHERE part LIKE '%.1' AND state = 'growing'")
        await growing.crash()
        await growing.start()
        shown = await gets_file(ann)
        await growing.quiet()

        assert ann.sees() == ["\n\n".join(LINES[:2]), "\n\n".join(LINES[2:4]), ANSWER_CAPTION]
        assert file_of(shown)[2] == "\n\n".join(LINES)
