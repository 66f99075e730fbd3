"""Two people on three platforms at once: nothing of one reaches the other, but what is said where both speak.

Each says a word of their own in a direct chat, in a group and in a thread of every platform, and asks there what is
known. On Slack each message that names the bot in a channel begins a thread of its own.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import product

import pytest

from tests.contract.stages.discord import DiscordStage
from tests.contract.stages.slack import SlackStage
from tests.contract.stages.telegram import TelegramStage
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.streets import DiscordStreet, SlackStreet, Street, TelegramStreet
from tests.flow.test_ways_in_platforms import Town, online

pytestmark = pytest.mark.req("ACC-5", "SRC-2")

PEOPLE = ("user", "other")
PLACES = ("direct", "group", "thread")
STANDS = ((TelegramStreet, TelegramStage), (DiscordStreet, DiscordStage), (SlackStreet, SlackStage))


def word(street: Street, place: str, role: str) -> str:
    """What only this person says, and only there."""
    return f"word-{street.platform}-{place}-{role}"


def say(town: Town, place: str, role: str, text: str) -> None:
    street = town.street
    match place:
        case "direct":
            street.direct(role, text)
        case "group":
            street.mention(role, street.listed, text)
        case _:
            street.in_thread(role, text)
    town.sent += 1


@pytest.fixture(params=["user", "shared"])
async def city(
    request: pytest.FixtureRequest, house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[House, list[Town], str]]:
    """One daemon on three platforms; in groups and threads people have their own sessions, or share one."""
    monkeypatch.setattr("adapters.slack.adapter.SEND_GAP_S", 0.0)
    async with AsyncExitStack() as stack:
        streets = [make(await stack.enter_async_context(stage())) for make, stage in STANDS]
        allow = {street.platform: street.access["allow"][street.platform] for street in streets}
        house = await house_of(
            others=[street.stage.adapter for street in streets],
            access={"allow": allow, "pairing": False},
            queue={"gather_s": 0},
            sessions={"group": request.param, "thread": request.param},
        )
        await online(house)
        yield house, [Town(street=street, house=house) for street in streets], request.param
        await house.stop()


async def test_no_word_grant_or_conversation_of_one_reaches_the_other(
    city: tuple[House, list[Town], str],
) -> None:
    house, towns, scope = city
    everywhere = list(product(towns, PLACES, PEOPLE))
    for town, place, role in everywhere:
        say(town, place, role, f"mine is {word(town.street, place, role)}")
    for town in towns:
        await town.arrived()
    for town, place, role in everywhere:
        say(town, place, role, f"what is known to {word(town.street, place, role)}")
    for town in towns:
        await town.arrived()

    words = {(t.street.platform, p, r): word(t.street, p, r) for t, p, r in everywhere}
    wrong = []
    for (platform, place, role), own in words.items():
        (asked,) = [each for each in house.model.asked if f"what is known to {own}" in each.question]
        heard = str(asked.lines) + asked.system
        known = {key for key, each in words.items() if each in heard}
        meets = place == "thread" or (place == "group" and platform != "slack")
        together = meets and scope == "shared"
        may = {(platform, place, each) for each in (PEOPLE if together else (role,))}
        if known != may:
            wrong.append(f"{role} in {place} on {platform} reads {sorted(known)}")
    assert wrong == []

    for town in towns:
        for role in PEOPLE:
            town.street.order(role, "sessions")
            town.street.order(role, "grants")
            town.sent += 2
        await town.arrived()
        for role, other in (PEOPLE, PEOPLE[::-1]):
            shown = town.street.all_shown(town.street.people[role])
            assert f"-{role}" in shown
            assert f"-{other}" not in shown
            assert "You granted nothing." in shown


@pytest.mark.parametrize("city", ["shared"], indirect=True)
async def test_what_one_allowed_is_asked_of_the_other_on_every_platform(
    city: tuple[House, list[Town], str],
) -> None:
    house, towns, _ = city
    for number, town in enumerate(towns, start=1):
        street = town.street
        say(town, "group", "user", "use count {}")
        (card,) = await street.sim.wait_for(lambda street=street: street.cards(street.listed))  # type: ignore[misc]
        street.press("user", card, "Always")
        await street.sim.wait_for(
            lambda street=street: any(  # type: ignore[misc]
                "Any arguments" in street.buttons(shown) for shown in street.cards(street.listed)
            )
        )
        (card,) = street.cards(street.listed)
        street.press("user", card, "Any arguments")
        town.sent += 2
        await town.arrived()
        assert len(house.lab.runs) == 2 * number - 1
        say(town, "group", "other", "use count {}")
        await town.arrived()
        assert len(street.cards(street.listed)) == 1
        assert len(house.lab.runs) == 2 * number - 1
        say(town, "direct", "user", "use count {}")
        await town.arrived()
        assert len(house.lab.runs) == 2 * number
    asked = await house.values("SELECT requester FROM requests WHERE state = 'pending' ORDER BY id")
    assert asked == [town.street.who("other") for town in towns]
