"""The agent asks by buttons on Telegram, and a kill -9 between question and press loses neither."""

import pytest

from tests.daemon.conftest import Site
from tests.daemon.test_approvals import card_of, said

pytestmark = pytest.mark.timeout(180)


@pytest.mark.req("TOL-6", "TSK-5", "APR-6")
async def test_a_question_with_choices_is_answered_by_a_button_after_kill_9(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    async with site.daemon() as daemon:
        await daemon.start()
        site.telegram.say(ada, 'call ask_user {"question": "Which size?", "choices": ["S", "M"]}')
        card = await card_of(site, ada)
        assert "Which size?" in card.text
        assert [[button.text for button in line] for line in card.buttons] == [["S", "M"], ["Skip"]]
        await daemon.kill()
        site.telegram.press(card, "M")
        await daemon.start()
        await said(site, ada, "tool said")
        assert await daemon.stop() == 0
    tools = [m["content"] for m in site.model.bodies[-1]["messages"] if m["role"] == "tool"]
    assert tools == ["M"]
    assert "Answered by Ada" in card.text
    assert card.buttons == ()
    assert site.model.rejected == 0
