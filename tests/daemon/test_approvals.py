"""A real MCP server behind real buttons: nothing runs before its card was answered, and kill -9 loses no card."""

import sys

import pytest

from tests.daemon.conftest import Site
from tests.simulators.telegram.records import Chat, Message, User

pytestmark = pytest.mark.timeout(180)

SLOW_S = 90.0
ASK = 'call get_current_time {"timezone": "Europe/Vienna"}'


def config(site: Site) -> None:
    """Write the file that names the real server."""
    (site.folder / "config.yaml").write_text(
        "mcpServers:\n  time:\n"
        f"    command: {sys.executable}\n    args: [-m, mcp_server_time, --local-timezone, UTC]\n"
    )


async def card_of(site: Site, where: User | Chat, nth: int = 1) -> Message:
    """The nth card that shows live buttons in this chat."""

    def live() -> Message | None:
        cards = [message for message in site.telegram.replies(where) if message.buttons]
        return cards[nth - 1] if len(cards) >= nth else None

    return await site.telegram.wait_for(live, SLOW_S)


async def said(site: Site, where: User | Chat, words: str) -> Message:
    """The message in which these words arrive."""
    return await site.telegram.wait_for(
        lambda: next((m for m in site.telegram.replies(where) if words in m.text), None), SLOW_S
    )


@pytest.mark.req("APR-1", "APR-2", "APR-4", "APR-5", "TOL-2", "AGT-2")
async def test_deny_is_heard_once_runs_and_no_other_press_does_anything(site: Site) -> None:
    ada, bob = site.telegram.add_user(111, name="Ada"), site.telegram.add_user(222, name="Bob")
    group = site.telegram.add_group("Club", [ada, bob])
    config(site)
    async with site.daemon(PARLEY_ACCESS__GROUPS="always") as daemon:
        await daemon.start()
        await daemon.wait_says("mcp.ready")
        site.telegram.say(group, ASK)
        denied = await card_of(site, group)
        assert "get_current_time" in denied.text
        assert "Europe/Vienna" in denied.text
        assert [[button.text for button in line] for line in denied.buttons] == [
            ["Once", "This session"],
            ["Always", "Deny"],
        ]
        old_button = denied.buttons[0][0].callback_data
        stranger = site.telegram.press(denied, "Once", bob)
        await site.telegram.wait_for(lambda: stranger.answered_at_s is not None, SLOW_S)
        assert "Only Ada may answer" in stranger.answer["text"]
        site.telegram.press(denied, "Deny", ada)
        await said(site, group, "tool said")
        site.telegram.say(group, ASK, user=ada)
        card = await card_of(site, group)
        data = card.buttons[0][0].callback_data
        site.telegram.press(card, "Once", ada)
        answer = await said(site, group, 'Europe/Vienna",')
        assert "datetime" in answer.text
        late = [site.telegram.press_data(card, data, ada), site.telegram.press_data(denied, old_button, ada)]
        await site.telegram.wait_for(lambda: all(press.answered_at_s is not None for press in late), SLOW_S)
        assert await daemon.stop() == 0
    assert "already approved by Ada" in late[0].answer["text"]
    assert "already denied by Ada" in late[1].answer["text"]
    results = [
        message["content"] for message in site.model.bodies[-1]["messages"] if message["role"] == "tool"
    ]
    assert len(results) == 2
    assert "denied" in results[0]
    assert '"timezone": "Europe/Vienna"' in results[1]
    assert site.model.rejected == 0


@pytest.mark.req("APR-1", "AGT-2", "EVT-3")
async def test_two_calls_of_a_round_are_decided_and_run_one_after_the_other(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    config(site)
    async with site.daemon() as daemon:
        await daemon.start()
        await daemon.wait_says("mcp.ready")
        site.telegram.say(ada, f"{ASK}\n{ASK.replace('Vienna', 'Rome')}")
        card = await card_of(site, ada)
        assert "(1 of 2)" in card.text
        site.telegram.press(card, "Once")
        await site.telegram.wait_for(lambda: "(2 of 2)" in card.text and card.buttons, SLOW_S)
        assert "Europe/Rome" in card.text
        site.telegram.press(card, "Once")
        await said(site, ada, "tool said")
        assert await daemon.stop() == 0
    tools = [m["content"] for m in site.model.bodies[-1]["messages"] if m["role"] == "tool"]
    assert ["Europe/Vienna" in tools[0], "Europe/Rome" in tools[1], len(tools)] == [True, True, 2]


@pytest.mark.req("APR-6", "EVT-3", "QUE-5")
async def test_a_press_after_kill_9_and_a_restart_continues_the_turn(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    config(site)
    async with site.daemon() as daemon:
        await daemon.start()
        await daemon.wait_says("mcp.ready")
        site.telegram.say(ada, ASK)
        card = await card_of(site, ada)
        await daemon.kill()
        site.telegram.press(card, "Once")
        await daemon.start()
        await daemon.wait_says("mcp.ready")
        await said(site, ada, "tool said")
        assert await daemon.stop() == 0
    tools = [m["content"] for m in site.model.bodies[-1]["messages"] if m["role"] == "tool"]
    assert len(tools) == 1
    assert "Approved by Ada" in card.text
    assert card.buttons == ()
