"""An answer of more than ten messages, through the daemon as its users run it."""

import pytest

from tests.daemon.conftest import Site

pytestmark = pytest.mark.timeout(180)

SLOW_S = 90.0
PARAGRAPH = "## Part {n}\n\nWords about **item {n}**, 🦉 `code_{n}` and 2*3*4, over and over again.\n\n"


@pytest.mark.req("DLV-8", "DLV-2", "ADP-8")
@pytest.mark.parametrize("streaming", ["true", "false"])
async def test_a_long_answer_is_begun_in_the_chat_and_comes_whole_as_a_file(
    site: Site, streaming: str
) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    answer = "".join(PARAGRAPH.format(n=n) for n in range(1, 800)) + "**end**"
    async with site.daemon(PARLEY_TELEGRAM__STREAMING=streaming) as daemon:
        await daemon.start()
        site.telegram.say(ada, f"say {answer}")
        await site.telegram.wait_for(
            lambda: any(message.file for message in site.telegram.replies(ada)), SLOW_S
        )
        assert await daemon.stop() == 0
    *shown, last = site.telegram.replies(ada)
    assert last.file is not None
    assert (last.file.name, last.file.mime, last.file.content.decode()) == (
        "part-1.md",
        "text/markdown",
        answer,
    )
    assert last.text == "This is the whole answer."
    assert 1 <= len(shown) <= 10
    assert shown[0].text.startswith("Part 1\nWords about item 1, 🦉 code_1")
    assert all(message.file is None for message in shown)
    assert not site.telegram.refusals
    assert not site.telegram.violations
