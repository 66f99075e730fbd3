"""The main job on real input: Telegram messages become turns, and a long answer arrives whole."""

import re

import pytest

from tests.daemon.conftest import Site
from tests.simulators.telegram.appearance import styled_runs, styles_of

pytestmark = pytest.mark.timeout(180)

SLOW_S = 90.0

PARAGRAPH = (
    "## Part {n}\n\nWords about **item {n}** with a [link](https://example.test/{n}?a=1&b=2) and 🦉 emoji, "
    "`code_{n}` and plain 2*3*4.\n\n```python\ndef step_{n}(value):\n    if value:\n        return {n}\n```\n\n"
)
TABLE = "| name | size |\n|---|---|\n| oak | 7 |\n| ash | 10 |\n\n"


@pytest.mark.req("ADP-2", "QUE-1", "QUE-3", "SRC-1")
async def test_one_user_and_two_hundred_at_once_are_all_answered_once(site: Site) -> None:
    people = [site.telegram.add_user(1_000 + n) for n in range(201)]
    async with site.daemon() as daemon:
        await daemon.start()
        site.telegram.say(people[0], "alone")
        (first,) = await site.telegram.wait_for_replies(people[0], 1, SLOW_S)
        assert first.text == "echo: alone"
        for user in people[1:]:
            site.telegram.say(user, f"I am {user.id}")
        for user in people[1:]:
            await site.telegram.wait_for_replies(user, 1, SLOW_S)
        assert await daemon.stop() == 0
    assert {user.id: [m.text for m in site.telegram.replies(user)] for user in people[1:]} == {
        user.id: [f"echo: I am {user.id}"] for user in people[1:]
    }
    assert not site.telegram.refusals
    assert not site.telegram.violations


@pytest.mark.req("QUE-1", "SES-1", "SES-4")
async def test_twenty_messages_in_a_moment_are_twenty_turns_in_order(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    async with site.daemon() as daemon:
        await daemon.start()
        for number in range(20):
            site.telegram.say(ada, f"message {number}")
        replies = await site.telegram.wait_for_replies(ada, 20, SLOW_S)
        assert await daemon.stop() == 0
    assert [message.text for message in replies] == [f"echo: message {number}" for number in range(20)]
    last = site.model.bodies[-1]["messages"]
    heard = [message["content"] for message in last if message["role"] != "system"]
    expected = [text for number in range(19) for text in (f"message {number}", f"echo: message {number}")]
    assert heard == [*expected, "message 19"]
    assert site.model.rejected == 0


@pytest.mark.req("DLV-2", "DLV-3", "DLV-4")
async def test_a_25000_character_answer_arrives_whole_formatted_and_unrefused(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    answer = TABLE + "".join(PARAGRAPH.format(n=n) for n in range(1, 1_000))
    answer = answer[: answer.index("## Part", 25_000)] + "**end**"
    async with site.daemon() as daemon:
        await daemon.start()
        site.telegram.say(ada, f"say {answer}")
        await site.telegram.wait_for(
            lambda: (found := site.telegram.replies(ada)) and found[-1].text.endswith("end"), SLOW_S
        )
        assert await daemon.stop() == 0
    pieces = site.telegram.replies(ada)
    runs = [run for piece in pieces for run in styled_runs(piece)]
    code = "\n".join(run.text for run in runs if "pre" in run.styles)
    numbers = [
        int(n) for n in re.findall(r"Words about item (\d+)", "\n".join(piece.text for piece in pieces))
    ]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 100
    for n in numbers:
        assert f"def step_{n}(value):\n    if value:\n        return {n}" in code
    assert {run.text for run in runs if "bold" in run.styles} >= {f"item {n}" for n in numbers}
    assert {run.url for run in runs if run.url} == {f"https://example.test/{n}?a=1&b=2" for n in numbers}
    assert "bold" in styles_of(pieces[-1], "end")
    assert not site.telegram.refusals
    assert not site.telegram.violations


@pytest.mark.req("ACC-1")
async def test_a_stranger_is_told_once_and_nothing_reaches_the_model(site: Site) -> None:
    eve, ada = site.telegram.add_user(666, name="Eve"), site.telegram.add_user(111, name="Ada")
    async with site.daemon(PARLEY_ACCESS__ALLOW__TELEGRAM="111") as daemon:
        await daemon.start()
        for text in ("let me in", "please", "/status", "/approve"):
            site.telegram.say(eve, text)
        site.telegram.say(ada, "hello")
        await site.telegram.wait_for_replies(ada, 1, SLOW_S)
        await site.telegram.wait_for_replies(eve, 1, SLOW_S)
        assert await daemon.stop() == 0
    (told,) = site.telegram.replies(eve)
    assert "private" in told.text
    assert [body["messages"][-1]["content"] for body in site.model.bodies] == ["hello"]


@pytest.mark.req("ADP-8")
async def test_a_file_larger_than_telegram_hands_out_is_told_with_the_limit_and_holds_up_nothing(
    site: Site,
) -> None:
    """C112a."""
    ada = site.telegram.add_user(111, name="Ada")
    async with site.daemon(PARLEY_FILES__MAX_BYTES="30000000") as daemon:
        await daemon.start()
        big = ("document", "big.txt", b"words")
        site.telegram.say(ada, "summarise this", file=big, claimed_bytes=21_000_000)
        site.telegram.say(ada, "and now?")
        replies = await site.telegram.wait_for_replies(ada, 3, SLOW_S)
        assert await daemon.stop() == 0
    why = "big.txt: larger than 20 MB, the most Telegram lets a bot fetch"
    assert [message.text.split("\n")[0] for message in replies] == [
        f"I answer without what I could not read ({why}).",
        "echo: summarise this",
        "echo: and now?",
    ]
    assert len(site.telegram.calls("getFile")) == 1
