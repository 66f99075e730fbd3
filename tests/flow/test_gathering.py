"""A text that the sender's client split, and an album, are one turn (QUE-8)."""

from datetime import timedelta

import pytest

from gateway.messages import Attachment
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import Gate

pytestmark = pytest.mark.req("QUE-8")

LONG_WAIT = {"gather_s": 30}
"""Long enough that nothing but what ends it can end the gathering, however slow the machine is."""


def photo(name: str) -> tuple[Attachment, ...]:
    return (Attachment(kind="image", ref=name, name=name),)


async def split_house(house_of: Open, **settings: object) -> House:
    return await house_of(platform={"input_limit": 100}, **{"queue": LONG_WAIT, **settings})  # type: ignore[arg-type]


async def test_the_parts_of_a_long_text_are_one_turn_with_every_character(house_of: Open) -> None:
    """C15a."""
    house = await split_house(house_of)
    ann = house.person()
    whole = "".join(f"word{n:03}, " for n in range(27)).strip()
    for at in range(0, len(whole), 100):
        ann.says(whole[at : at + 100])
    await ann.gets("You said: word000")
    await house.quiet()

    assert house.model.questions == [whole]
    assert await house.values("SELECT became FROM inbox") == ["turn"] * 3
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]


async def test_parts_cut_at_a_line_keep_a_line_break_between_them(house_of: Open) -> None:
    house = await split_house(house_of)
    ann = house.person()
    ann.says("a" * 80)
    ann.says("b" * 60)
    ann.says("the end")
    await ann.gets("You said: ")
    await house.quiet()

    assert house.model.questions == ["\n".join(["a" * 80, "b" * 60, "the end"])]


async def test_short_messages_stay_separate(house_of: Open) -> None:
    house = await split_house(house_of)
    ann = house.person()
    for text in ("a" * 50, "two", "three"):
        ann.says(text)
    await ann.gets("You said: three")
    await house.quiet()

    assert house.model.questions == ["a" * 50, "two", "three"]


async def test_a_long_text_alone_is_answered_after_the_wait(house_of: Open) -> None:
    house = await split_house(house_of, queue={"gather_s": 0.2})
    ann = house.person()
    ann.says("a" * 100)
    await ann.gets("You said: aaa")
    await house.quiet()

    assert house.model.questions == ["a" * 100]


async def test_parts_that_come_one_by_one_are_gathered_and_a_crash_between_them_loses_nothing(
    house_of: Open,
) -> None:
    house = await split_house(house_of)
    ann = house.person()
    first = ann.says("a" * 100)
    await house.platform.wait_received()
    assert house.daemon._queue.running == 0
    await house.crash()
    await house.start()
    house.platform.say("a" * 100, ann.source, repeat_of=first.id)
    ann.says("and the rest")
    await ann.gets("You said: aaa")
    await house.quiet()

    assert house.model.questions == ["a" * 100 + "and the rest"]


async def test_what_is_being_gathered_runs_after_a_restart_without_another_word(house_of: Open) -> None:
    house = await split_house(house_of)
    ann = house.person()
    ann.says("a" * 100)
    await house.platform.wait_received()
    await house.crash()
    house.clock.pass_by(seconds=31)
    await house.start()
    await ann.gets("You said: aaa")


@pytest.mark.parametrize("apart", ["too late", "an answer to something", "somebody else's", "with a file"])
async def test_what_is_no_rest_of_the_text_is_a_message_of_its_own(house_of: Open, apart: str) -> None:
    house = await split_house(
        house_of,
        queue={"gather_s": 0.2},
        sessions={"group": "shared"},
        access={"allow": {"memory": ["*"]}, "groups": "always"},
    )
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    ann.says("a" * 100, ago=timedelta(seconds=10 if apart == "too late" else 0))
    match apart:
        case "an answer to something":
            ann.says("no", reply_to="77")
        case "somebody else's":
            bob.says("no")
        case "with a file":
            ann.says("no", attachments=photo("cat.jpg"))
        case _:
            ann.says("no")
    await ann.gets("no")
    await house.quiet()

    assert len(house.model.questions) == 2


async def test_a_command_ends_the_gathering(house_of: Open) -> None:
    house = await split_house(house_of)
    ann = house.person()
    ann.says("a" * 100)
    ann.says("/status")
    await ann.gets("You said: aaa")
    ann.says("separate")
    await ann.gets("You said: separate")


async def test_the_rest_of_an_addressed_text_needs_no_address(house_of: Open) -> None:
    house = await split_house(house_of)
    ann = house.member()
    ann.says("a" * 100, mentions=True)
    ann.says("and the rest")
    ann.says("talking to others")
    await ann.gets("You said: aaa")
    await house.quiet()

    assert house.model.questions == ["a" * 100 + "and the rest"]
    assert await house.values("SELECT became FROM inbox ORDER BY rowid") == ["turn", "turn", "ignored"]


async def test_a_split_text_behind_a_running_turn_is_one_turn_in_its_place(house_of: Open) -> None:
    house = await split_house(house_of)
    ann = house.person()
    gate = Gate()
    house.model.then(gate)
    ann.says("slow")
    await gate.reached()
    for text in ("a" * 100, "rest", "last"):
        ann.says(text)
    await house.platform.wait_received()
    gate.open()
    await ann.gets("You said: last")
    await house.quiet()

    assert house.model.questions == ["slow", "a" * 100 + "rest", "last"]


async def test_other_lanes_do_not_wait_for_the_rest_of_a_text(house_of: Open) -> None:
    house = await split_house(house_of, queue={"gather_s": 30, "max_running": 1})
    ann, bob = house.person("1"), house.person("2", "Bob")
    ann.says("a" * 100)
    bob.says("plum")
    await bob.gets("You said: plum")

    assert ann.sees() == []


async def test_an_album_is_one_turn_with_its_caption_and_all_its_pictures(house_of: Open) -> None:
    house = await house_of(queue={"gather_s": 0.3})
    ann = house.person()
    for number, caption in enumerate(["what are these", "", ""]):
        ann.says(caption, group_id="g", attachments=photo(f"{number}.jpg"))
    await ann.gets("what are these")
    await house.quiet()

    assert house.model.questions == [
        "what are these\n" + "\n".join(f"(attached, not readable here: {number}.jpg)" for number in range(3))
    ]


async def test_two_albums_are_two_turns(house_of: Open) -> None:
    house = await house_of(queue={"gather_s": 0.3})
    ann = house.person()
    for group in ("g", "h", "g", "h"):
        ann.says(f"about {group}", group_id=group, attachments=photo(f"{group}.jpg"))
    await ann.gets("about h")
    await house.quiet()

    assert [question.split("\n")[0] for question in house.model.questions] == ["about g", "about h"]


async def test_an_album_without_a_word_gets_one_answer_and_the_model_is_not_asked(house_of: Open) -> None:
    house = await house_of(queue={"gather_s": 0.3})
    ann = house.person()
    for number in range(4):
        ann.says("", group_id="g", attachments=photo(f"{number}.jpg"))
    await ann.gets(
        "I cannot read this (0.jpg, 1.jpg, 2.jpg and 1 more)."
        " I read text files; of others, tell me in words what you need."
    )
    await house.quiet()

    assert len(ann.sees()) == 1
    assert house.model.asked == []
    assert await house.values("SELECT COUNT(*) FROM agent_state") == [0]


@pytest.mark.req("ADP-7")
async def test_a_voice_message_gets_one_clear_answer_and_changes_no_history(house: House) -> None:
    """C114a."""
    ann = house.person()
    ann.says("", attachments=(Attachment(kind="audio", ref="v"),))
    await ann.gets("I cannot listen to voice messages: there is no transcriber here. Write to me in words.")
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()

    assert house.model.asked[-1].lines == [("user", "plum")]
    assert len(ann.sees()) == 2
