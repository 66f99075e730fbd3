"""Answers that render to nothing, and messages that come twice under different ids: silence and repeats are faults."""

from dataclasses import replace

import pytest

from tests.flow.house import House
from tests.flow.scripted import says


@pytest.mark.req("AGT-8")
@pytest.mark.parametrize("answer", ["&nbsp;", "<br>", "#", "```\n```"])
async def test_an_answer_that_renders_to_nothing_is_shown_as_it_was_written(
    house: House, answer: str
) -> None:
    ann = house.person()
    house.model.then(says(answer))
    ann.says("plum")
    await house.quiet()
    assert ann.sees() == [answer]


@pytest.mark.req("DLV-1")
async def test_a_message_redelivered_under_a_new_update_id_is_one_turn(house: House) -> None:
    ann = house.person()
    said = ann.says("plum")
    await ann.gets("You said: plum")
    await house.platform.deliver(replace(said, id="another-update"))
    ann.says("pear")
    await ann.gets("You said: pear")
    await house.quiet()
    assert house.model.questions == ["plum", "pear"]
