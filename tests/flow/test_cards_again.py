"""A card of unknown outcome: a turn waits behind it, so it is shown again by itself, and either one works."""

from collections.abc import Iterator

import pytest

from gateway.document import plain
from gateway.errors import OutcomeUnknown
from gateway.messages import OutboundMessage
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, calls, says

pytestmark = pytest.mark.req("DLV-7", "APR-2")

REPEAT = "↻ Again, this may be a repeat:"
TOLD = "A part of my last answer may not have arrived. /again shows it once more."
ASKS = "Approval needed"
COUNT = ("count", {})


def lose_cards(house: House, times: int) -> list[str]:
    """The next cards are not shown, and nobody hears whether they were; their texts are noted in what is returned."""
    lost: list[str] = []

    def refuse(message: OutboundMessage) -> None:
        if message.buttons and len(lost) < times:
            lost.append(plain(message.body))
            raise OutcomeUnknown("time-out")

    house.platform.refuse = refuse
    return lost


def lose_answer_to_a_card(house: House) -> None:
    """The next card is shown, and the gateway does not hear so."""

    async def linger(message: OutboundMessage) -> None:
        if message.buttons:
            house.platform.linger = None
            raise OutcomeUnknown("time-out")

    house.platform.linger = linger


async def crash_while_a_card_is_sent(house: House, ann: Person, says_it: str = "use count {}") -> None:
    slow = Gate()

    async def linger(message: OutboundMessage) -> None:
        if message.buttons:
            await slow.enter()

    house.platform.linger = linger
    ann.says(says_it)
    await slow.reached()


async def test_a_card_that_may_not_have_arrived_is_shown_again_marked_and_works(house: House) -> None:
    ann = house.person()
    lost = lose_cards(house, 1)
    ann.says("use count {}")
    card = await ann.gets(REPEAT)
    assert card.text == f"{REPEAT}\n\n{lost[0]}"
    assert await house.values("SELECT state FROM requests") == ["pending"]

    await ann.presses("Once", card)
    await ann.gets("returned: run 1")
    await house.quiet()

    assert house.lab.runs == [COUNT]
    assert TOLD not in ann.sees()
    assert await house.values("SELECT state FROM outbox WHERE kind = 'card' ORDER BY id") == [
        "failed",
        "sent",
    ]


@pytest.mark.parametrize("pressed", [0, 1])
async def test_of_two_of_one_card_the_one_pressed_decides_and_what_is_known_to_be_shown_changes(
    house: House, pressed: int
) -> None:
    ann = house.person()
    lose_answer_to_a_card(house)
    ann.says("use count {}")
    await ann.gets(REPEAT)
    cards = [shown for shown in house.platform.shown if shown.tokens]
    assert [card.text.startswith(REPEAT) for card in cards] == [False, True]
    assert not set(cards[0].tokens.values()) & set(cards[1].tokens.values())

    await ann.presses("Once", cards[pressed])
    await ann.gets("returned: run 1")
    await house.quiet()
    left = [shown for shown in house.platform.shown if shown.tokens]
    for card in left:  # only one that was never pressed can stay as it was
        assert "already approved" in (await ann.presses("Once", card)).text
    await house.quiet()

    assert house.lab.runs == [COUNT]
    assert len(left) == pressed


async def test_a_card_that_a_crash_met_is_shown_again_after_the_start(house: House) -> None:
    ann = house.person()
    await crash_while_a_card_is_sent(house, ann)
    await house.crash()
    house.platform.linger = None
    await house.start()
    await ann.presses("Once", await ann.gets(REPEAT))
    await ann.gets("returned: run 1")
    await house.quiet()

    assert house.lab.runs == [COUNT]
    assert TOLD not in ann.sees()


async def test_a_card_pressed_before_its_sending_ended_is_known_and_not_shown_again(house: House) -> None:
    ann = house.person()
    await crash_while_a_card_is_sent(house, ann)
    await ann.presses("Once")
    await house.crash()
    house.platform.linger = None
    await house.start()
    await ann.gets("returned: run 1")
    await house.quiet()

    assert house.lab.runs == [COUNT]
    assert not [text for text in ann.sees() if REPEAT in text or text == TOLD]
    assert not [shown for shown in house.platform.shown if shown.tokens]


async def test_a_card_that_moved_on_to_the_next_call_while_it_was_sent_is_shown_as_it_is_now(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(calls(("lab__count", {"n": 1}), ("lab__count", {"n": 2})), says("both"))
    await crash_while_a_card_is_sent(house, ann, "go")
    ann.says("/approve")
    await house.until("SELECT 1 FROM requests WHERE id = 2")
    await house.crash()
    house.platform.linger = None
    await house.start()
    await house.until("SELECT 1 FROM outbox WHERE kind = 'card' AND state = 'sent'")
    card = next(shown for shown in reversed(house.platform.shown) if shown.tokens)
    await ann.presses("Once", card)
    await ann.gets("both")
    await house.quiet()

    assert [dict(args) for _, args in house.lab.runs] == [{"n": 1}, {"n": 2}]


async def test_a_card_no_showing_of_which_is_known_to_arrive_is_left_to_again(house: House) -> None:
    ann = house.person()
    lost = lose_cards(house, 4)
    ann.says("use count {}")
    await ann.gets(TOLD)
    await house.quiet()
    assert [text.count(REPEAT) for text in lost] == [0, 1, 1, 1]
    assert not [shown for shown in house.platform.shown if shown.tokens]

    ann.says("/again")
    await ann.presses("Once", await ann.gets(REPEAT))
    await ann.gets("returned: run 1")
    await house.quiet()

    assert house.lab.runs == [COUNT]


async def test_a_repeat_that_may_be_lost_again_is_told_again(house: House) -> None:
    ann = house.person()
    errors = iter([OutcomeUnknown("time-out"), OutcomeUnknown("time-out")])
    house.platform.refuse = lambda message: _meets(errors, message)
    ann.says("plum")
    await ann.gets(TOLD)
    await house.quiet()
    ann.says("/again")
    await house.until(
        "SELECT COUNT(*) FROM outbox WHERE kind = 'notice' AND state = 'sent' HAVING COUNT(*) = 3"
    )
    await house.quiet()
    ann.says("/again")
    await ann.gets("You said: plum")
    await house.quiet()

    assert [text for text in ann.sees() if "plum" not in text] == [
        TOLD,
        "1 message to show again.",
        TOLD,
        "1 message to show again.",
    ]


def _meets(errors: Iterator[OutcomeUnknown], message: OutboundMessage) -> None:
    if "plum" in plain(message.body) and (error := next(errors, None)) is not None:
        raise error
