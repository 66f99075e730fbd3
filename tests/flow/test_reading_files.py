"""Text files that people send are read; of others it is said that they are not."""

import pytest

from gateway.errors import NotSent
from gateway.messages import Attachment
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, says

pytestmark = pytest.mark.req("ADP-8")


def sends(
    person: Person, name: str, data: bytes | None, text: str = "", mime_type: str = "text/plain"
) -> None:
    ref = f"file of {name}"
    if data is not None:
        person.platform.files[ref] = data
    file = Attachment(
        kind="file", ref=ref, name=name, mime_type=mime_type, size_bytes=None if data is None else len(data)
    )
    person.says(text, attachments=(file,))


async def test_a_text_file_is_read_with_the_words_beside_it(house: House) -> None:
    ann = house.person()
    sends(ann, "trees.csv", "name,height\r\noak,40\r\n".encode("utf-16"), "what is in it")
    await ann.gets("what is in it")
    await house.quiet()

    assert house.model.questions == [
        "what is in it\n[attached file trees.csv]\nname,height\noak,40\n[end of trees.csv]"
    ]


async def test_a_file_without_a_word_is_a_turn(house: House) -> None:
    ann = house.person()
    house.model.then(says("I have read it."))
    sends(ann, "notes", b"buy plums", mime_type="text/markdown; charset=utf-8")
    await ann.gets("I have read it.")

    assert house.model.questions == ["[attached file notes]\nbuy plums\n[end of notes]"]


@pytest.mark.parametrize(
    ("name", "data", "mime_type", "told"),
    [
        ("a.pdf", b"%PDF", "application/pdf", "a.pdf"),
        (
            "big.txt",
            b"x" * 2_001,
            "text/plain",
            "big.txt: larger than 2,000 bytes, the most I read of a file",
        ),
        ("odd.txt", b"\x00\x01\xff", "text/plain", "odd.txt: it is no text"),
        ("none.txt", b"", "text/plain", "none.txt: it is empty"),
        ("gone.txt", None, "text/plain", "gone.txt: it could not be fetched"),
    ],
)
async def test_what_cannot_be_read_is_told_and_the_model_is_not_asked(
    house_of: Open, name: str, data: bytes | None, mime_type: str, told: str
) -> None:
    house = await house_of(files={"max_bytes": 2_000})
    ann = house.person()
    sends(ann, name, data, mime_type=mime_type)
    await ann.gets(f"I cannot read this ({told}).")
    await house.quiet()

    assert len(ann.sees()) == 1
    assert house.model.asked == []


async def test_a_long_text_is_cut_with_a_mark(house_of: Open) -> None:
    house = await house_of(files={"max_chars": 100})
    ann = house.person()
    sends(ann, "long.txt", b"word " * 100, "sum it up")
    await ann.gets("sum it up")
    await house.quiet()

    (question,) = house.model.questions
    assert "[… cut here: the file has 500 characters]\n[end of long.txt]" in question
    assert len(question) < 200


async def test_a_platform_that_is_away_for_a_moment_is_asked_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.turns.reading.wait_s", lambda rule, failed: 0.0)
    ann = house.person()
    house.platform.fail(NotSent("away"), NotSent("away"))
    sends(ann, "notes.txt", b"plums", "go")
    await ann.gets("plums")

    assert house.platform.fetched == ["file of notes.txt"] * 3


async def test_after_a_crash_the_turn_goes_on_from_the_words_it_has_read(house: House) -> None:
    ann = house.person()
    thinking = Gate()
    house.model.then(thinking)
    sends(ann, "notes.txt", b"plums", "go")
    await thinking.reached()
    await house.crash()
    house.platform.files.clear()
    house.model.then(says("Done."))
    await house.start()
    await ann.gets("Done.")

    assert house.model.questions == ["go\n[attached file notes.txt]\nplums\n[end of notes.txt]"] * 2
    assert house.platform.fetched == ["file of notes.txt"]
