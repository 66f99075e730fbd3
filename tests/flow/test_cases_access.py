"""Cases of who may do what that need a platform's own ways: C67a, C97a, C99a."""

from typing import Any

import pytest

from tests.cases import load
from tests.contract.stages.discord import DiscordStage
from tests.contract.stages.telegram import TelegramStage
from tests.flow.conftest import Open
from tests.flow.scripted import calls
from tests.flow.streets import DiscordStreet
from tests.flow.test_ways_in_platforms import Town, online


@pytest.mark.req("ACC-1", "ADP-3")
async def test_a_person_not_on_the_list_gets_nothing_on_discord_whatever_they_try(house_of: Open) -> None:
    """C97a."""
    async with DiscordStage() as stage:
        street = DiscordStreet(stage)
        sim, stranger = stage.sim, street.people["stranger"]
        access: dict[str, Any] = {"allow": {"discord": [str(street.people["user"].id)]}, "pairing": False}
        access["allow"]["discord"].append(f"chat:{street.unlisted.id}")
        house = await house_of(others=[stage.adapter], access=access)
        await online(house)
        town = Town(street=street, house=house, sent=1)
        street.mention("user", street.unlisted, "use count {}")
        await town.arrived()
        (card,) = street.cards(street.unlisted)
        before, shown = await town.state(), len(sim.calls("createMessage"))

        said = street.mention("stranger", street.listed, "let me in")
        sim.edit(said, "/new")
        street.reply("stranger", card, street.listed, "and now?")
        sim.say(street.listed, "", user=stranger, forward=card)
        sim.say(street.listed, "look", user=stranger, file=("a.txt", "text/plain", b"x"))
        thread = sim.add_thread(street.listed, "mine", owner=stranger)
        street.mention("stranger", thread, "and in here?")
        sim.command(street.listed, "new", user=stranger)
        town.sent += 7
        await town.arrived()

        assert await town.state() == before
        assert await house.values("SELECT requester FROM turns") == [street.who("user")]
        assert len(sim.calls("createMessage")) == shown
        assert not [call for call in sim.recorder.calls if call.method in {"createReaction", "createThread"}]
        await house.stop()


@pytest.mark.req("ACC-1", "ADP-2")
async def test_a_user_name_of_digits_is_no_user_id(house_of: Open) -> None:
    """C99a."""
    async with TelegramStage() as stage:
        impostor = stage.sim.add_user(777, "5551234", username="5551234")
        house = await house_of(
            others=[stage.adapter], access={"allow": {"telegram": ["5551234"]}, "pairing": False}
        )
        await online(house)
        stage.sim.say(impostor, "it is me")
        (told,) = await stage.sim.wait_for_replies(impostor, 1)
        await house.quiet()

        assert "This bot is private." in told.text
        assert house.model.asked == []
        await house.stop()


@pytest.mark.req("APR-2", "APR-4", "ADP-2")
async def test_button_data_is_short_whatever_the_tool_and_the_chat_are_called(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C67a."""
    (case,) = [each for each in load("cards") if each["id"] == "C67a"]
    async with TelegramStage() as stage:
        people = [stage.user]
        forum = stage.sim.add_forum("Archive", people, chat_id=-10_012_345_678_901_234_567)
        stage.sim.add_topic(forum, "first")
        topic = stage.sim.add_topic(forum, "second")
        house = await house_of(others=[stage.adapter], access={"allow": {"telegram": [f"chat:{forum.id}"]}})
        await house.stop()
        long_named = house.lab._tool(case["tool"])
        monkeypatch.setattr("agent.runtime.builtin_tools", lambda: (long_named,))
        await house.start()
        await online(house)
        house.model.then(calls((long_named.name[:64], case["arguments"])))
        stage.sim.say(forum, f"@{stage.sim.account.user.username} archive it", thread=topic.id)
        (card,) = await stage.sim.wait_for(
            lambda: [each for each in stage.sim.replies(forum) if each.buttons]
        )

        buttons = [button for row in card.buttons for button in row]
        assert [button.text for button in buttons] == ["Once", "This session", "Always", "Deny"]
        assert all(1 <= len(str(button.callback_data).encode()) <= 64 for button in buttons)
        assert len({button.callback_data for button in buttons}) == 4
        await house.quiet()
        await house.stop()
