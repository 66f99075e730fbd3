"""A stranger asks to be let in: by a code, by an admin's button, and what either never does."""

import re

import pytest

from gateway.store.audit import OPERATOR
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.test_grants import actions

pytestmark = pytest.mark.req("ACC-1")
ACCESS = {"allow": {"memory": ["1"]}, "admins": {"memory": ["9"]}}


async def code_of(stranger: Person) -> str:
    stranger.says("let me in")
    told = await stranger.gets("To be let in, give its owner this code")
    found = re.search(r": ([A-Z2-9]{8}) ", told.text)
    assert found, told.text
    return found[1]


async def approve(house: House, code: str) -> str:
    return (await house.database.write(lambda tx: house.daemon._doorkeeper.approve(tx, code, OPERATOR))).words


@pytest.fixture
async def house(house_of: Open) -> House:
    return await house_of(access=ACCESS)


async def test_a_code_lets_one_person_in_at_once_and_after_a_restart(house: House) -> None:
    eve, mallory = house.person("666", "Eve"), house.person("667", "Mallory")
    code = await code_of(eve)
    eve.says("hello?")
    await house.quiet()
    assert len(eve.sees()) == 1
    assert house.model.asked == []

    assert await approve(house, f" {code.lower()} ") == "memory:666 is let in."
    await eve.gets("You have been let in.")
    eve.says("good day")
    await eve.gets("You said: good day")
    assert await approve(house, code) == "No open code reads so; codes are good for an hour."
    await house.quiet()
    await house.restart()
    eve.says("still here")
    await eve.gets("You said: still here")
    mallory.says("me too")
    await mallory.gets("This bot is private.")

    assert house.model.questions == ["good day", "still here"]
    assert code not in str([tuple(row) for row in await house.rows("SELECT * FROM pairings")])  # type: ignore[call-overload]


async def test_who_is_let_in_directly_is_still_nobody_in_an_unlisted_group_and_elsewhere(
    house: House,
) -> None:
    eve = house.person("666", "Eve")
    await approve(house, await code_of(eve))
    await eve.gets("You have been let in.")
    in_group = house.member("666", "Eve", chat_id="-99")
    in_group.says("hello", mentions=True)
    await house.quiet()

    assert in_group.sees() == []
    assert house.model.asked == []


async def test_a_code_is_void_after_an_hour_and_a_new_one_is_given(house: House) -> None:
    eve = house.person("666", "Eve")
    code = await code_of(eve)
    house.clock.pass_by(minutes=61)
    assert await approve(house, code) == "No open code reads so; codes are good for an hour."
    eve.says("again please")
    await house.quiet()

    assert len(eve.sees()) == 2
    assert await house.values("SELECT state FROM pairings WHERE user_id = '666'") == ["asked"]


async def test_at_most_three_codes_are_open_for_an_account(house: House) -> None:
    strangers = [house.person(f"66{number}") for number in range(5)]
    for stranger in strangers:
        stranger.says("let me in")
        await stranger.gets("This bot is private.")
    await house.quiet()

    assert ["code" in stranger.sees()[0] for stranger in strangers] == [True, True, True, False, False]


async def test_five_wrong_codes_lock_for_an_hour_even_for_the_right_one(house: House) -> None:
    eve = house.person("666", "Eve")
    wrong = "No open code reads so; codes are good for an hour."
    locked = "Too many wrong codes: none is taken for an hour."
    assert [await approve(house, "AAAAAAAA") for _ in range(5)] == [wrong] * 5
    code = await code_of(eve)
    assert await approve(house, code) == locked
    await house.restart()
    assert await approve(house, code) == locked
    house.clock.pass_by(minutes=61)
    eve.says("again")
    await house.quiet()
    assert await approve(house, "AAAAAAAA") == wrong


@pytest.mark.req("ACC-2", "APR-8")
async def test_any_admin_decides_by_the_button_on_a_card_in_their_direct_chat(house: House) -> None:
    ada, eve = house.person("9", "Ada"), house.person("666", "**Eve**")
    ada.says("good day")
    await ada.gets("You said: good day")
    await code_of(eve)
    card = await ada.gets("asks to be let in")
    assert "**Eve** (user id 666)" in card.text
    assert list(card.tokens) == ["Let in", "Deny"]

    assert (await eve.presses("Let in", card)).alert
    told = await ada.presses("Let in", card)
    await eve.gets("You have been let in.")
    await ada.gets("Let in by Ada.")
    again = await ada.presses("Deny", card)
    await house.quiet()

    assert told.text == "Let in by Ada."
    assert again.text == "This is already approved by Ada. Nothing was done."
    assert await actions(house) == [
        "pairing.asked",
        "access.refused",
        "request.approved",
        "pairing.approved",
    ]


async def test_who_was_refused_gets_no_other_code_and_no_other_word(house: House) -> None:
    ada, eve = house.person("9", "Ada"), house.person("666", "Eve")
    ada.says("good day")
    await ada.gets("You said: good day")
    code = await code_of(eve)
    await ada.presses("Deny", await ada.gets("asks to be let in"))
    await ada.gets("Refused by Ada.")
    house.clock.pass_by(hours=2)
    eve.says("please")
    await house.quiet()

    assert len(eve.sees()) == 1
    assert await approve(house, code) == "No open code reads so; codes are good for an hour."


async def test_a_code_the_operator_took_closes_the_admins_card(house: House) -> None:
    ada, eve = house.person("9", "Ada"), house.person("666", "Eve")
    ada.says("good day")
    await ada.gets("You said: good day")
    code = await code_of(eve)
    card = await ada.gets("asks to be let in")
    await approve(house, code)
    closed = await ada.gets("This was settled otherwise.")
    assert closed.tokens == {}
    assert (await ada.presses("Deny", card)).alert
    eve.says("I am in")
    await eve.gets("You said: I am in")


async def test_a_revoked_person_is_a_stranger_again(house: House) -> None:
    eve = house.person("666", "Eve")
    await approve(house, await code_of(eve))
    await eve.gets("You have been let in.")

    def revoke(who: str) -> str:
        return f"memory:{who}"

    decided = await house.database.write(
        lambda tx: house.daemon._doorkeeper.revoke(tx, revoke("666"), OPERATOR)
    )
    nobody = await house.database.write(lambda tx: house.daemon._doorkeeper.revoke(tx, revoke("1"), OPERATOR))
    eve.says("hello?")
    await house.quiet()

    assert (decided.words, nobody.words) == (
        "memory:666 is a stranger again.",
        "Nobody is known as memory:1.",
    )
    assert house.model.asked == []
    assert await actions(house) == ["pairing.asked", "pairing.approved", "pairing.revoked", "pairing.asked"]


async def test_with_pairing_turned_off_nobody_is_let_in_by_a_code(house: House) -> None:
    eve = house.person("666", "Eve")
    await approve(house, await code_of(eve))
    await eve.gets("You have been let in.")
    await house.quiet()
    await house.stop()
    house.settings["access"] = {**ACCESS, "pairing": False}
    await house.start()
    eve.says("good day")
    await house.quiet()

    assert house.model.asked == []
