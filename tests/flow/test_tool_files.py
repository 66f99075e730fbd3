"""Files that tools bring reach the person who asked, once each and in their place."""

import asyncio

import pytest

from agent.calls import ResultFile
from gateway.messages import OutboundFile
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House
from tests.flow.scripted import Gate, calls, says

pytestmark = pytest.mark.req("TOL-4", "ADP-8")

PNG = b"\x89PNG chart"


def brings(house: House, *files: tuple[str, bytes, str]) -> None:
    """Let the next runs of `count` bring these files: what the tool calls them, bytes, type."""
    folder = house.folder / "state" / "results"
    folder.mkdir(exist_ok=True)
    kept = []
    for number, (name, data, mime_type) in enumerate(files):
        (folder / f"call_{number}").write_bytes(data)
        kept.append(ResultFile(kept=f"call_{number}", name=name, mime_type=mime_type, size_bytes=len(data)))
    house.lab.files["count"] = tuple(kept)


def lose_files(house: House) -> None:
    (house.folder / "state" / "results" / "call_0").unlink()


def sent(house: House) -> list[OutboundFile]:
    return [shown.message.file for shown in house.platform.shown if shown.message.file is not None]


ALLOWED = {"approvals": {"allow": ["lab/*"]}}
RUN = calls(("lab__count", {}), text="I draw it.")


async def test_a_file_comes_between_the_words_before_and_after_it(house_of: Open) -> None:
    house = await house_of(**ALLOWED)
    ann = house.person()
    brings(house, ("../out/chart one.png", PNG, "image/png"), ("notes.md", b"# x", "text/markdown"))
    house.model.then(RUN, says("There it is."))
    ann.says("draw")
    await ann.gets("There it is.")
    await house.quiet()

    assert ann.sees() == ["I draw it.", "", "", "There it is."]
    assert sent(house) == [
        OutboundFile(name="chart_one.png", data=PNG, mime_type="image/png"),
        OutboundFile(name="notes.md", data=b"# x", mime_type="text/plain"),
    ]
    assert await house.values("SELECT DISTINCT state FROM outbox") == ["sent"]


@pytest.mark.parametrize(
    ("limit_bytes", "told"),
    [
        (5, "The file a.png (10 bytes) is larger than 5 bytes, the most that can be sent here."),
        (0, "The file a.png (10 bytes) cannot be sent here."),
    ],
)
async def test_a_file_that_cannot_be_sent_is_told_of(house_of: Open, limit_bytes: int, told: str) -> None:
    """C112b: the limit is the platform's, and the text arrives."""
    house = await house_of(platform={"file_limit_bytes": limit_bytes}, **ALLOWED)
    ann = house.person()
    brings(house, ("a.png", PNG, "image/png"))
    house.model.then(RUN, says("Done."))
    ann.says("draw")
    await ann.gets("Done.")

    assert ann.sees() == ["I draw it.", told, "Done."]


async def test_a_file_that_is_gone_is_told_of(house_of: Open) -> None:
    house = await house_of(**ALLOWED)
    ann = house.person()
    brings(house, ("a.png", PNG, "image/png"))
    lose_files(house)
    house.model.then(RUN, says("Done."))
    ann.says("draw")
    await ann.gets("Done.")

    assert ann.sees() == ["I draw it.", "The file a.png could not be read any more.", "Done."]


async def test_a_turn_brings_twenty_files_at_most_and_says_once_that_there_were_more(house_of: Open) -> None:
    house = await house_of(**ALLOWED)
    ann = house.person()
    brings(house, *((f"{number}.png", PNG, "image/png") for number in range(15)))
    house.model.then(RUN, RUN, RUN, says("Done."))
    ann.says("draw")
    await ann.gets("Done.")
    await house.quiet()

    assert [file.name for file in sent(house)] == [f"{n}.png" for n in (*range(15), *range(5))]
    assert ann.sees().count("More than 20 files came of this; the others are not sent.") == 1


@pytest.mark.req("DLV-6")
async def test_a_crash_after_the_tool_has_returned_sends_its_file_once(house_of: Open) -> None:
    house = await house_of(**ALLOWED)
    ann = house.person()
    brings(house, ("a.png", PNG, "image/png"))
    thinking = Gate()
    house.model.then(RUN, thinking)
    ann.says("draw")
    await thinking.reached()
    async with asyncio.timeout(WAIT_S):
        await house.platform.wait_until(lambda: bool(sent(house)))
    await house.until("SELECT 1 FROM outbox WHERE part LIKE 'file:%' AND state = 'sent'")
    await house.crash()
    house.model.then(says("Done."))
    await house.start()
    await ann.gets("Done.")
    await house.quiet()

    assert [file.name for file in sent(house)] == ["a.png"]
    assert [name for name, _ in house.lab.runs] == ["count"]
