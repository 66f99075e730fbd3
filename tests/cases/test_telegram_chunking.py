"""The shared chunking cases of Telegram, judged by the simulator's own reading of what was sent."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
import regex

from adapters.telegram.render import measure
from gateway.chunking import split
from gateway.document import parse
from tests.cases import by_id
from tests.cases.telegram_view import Shown, show

pytestmark = pytest.mark.req("DLV-2", "DLV-3")
CASES = by_id("chunking", "Telegram")
LIMITS = (4096, 3900, 3687)


def sent(text: str, limit: int) -> list[Shown]:
    return [show(piece, limit) for piece in split(parse(text), measure, limit)]


def joined(messages: list[Shown], between: str = "") -> str:
    return between.join(message.text for message in messages)


def all_in(style: str, messages: list[Shown]) -> list[str]:
    return [text for message in messages for text in message.styled(style)]


def c01a(source: str, messages: list[Shown]) -> None:
    assert len(messages) <= 3
    assert "\\" not in joined(messages)
    assert joined(messages, " ") == source.strip()


def c01b(_source: str, messages: list[Shown]) -> None:
    assert messages[-1].styled("bold") == ["end"]


def c05b(_source: str, messages: list[Shown]) -> None:
    assert messages[0].text.startswith("Log:\n\n")
    lines = [line for text in all_in("pre text", messages) for line in text.split("\n")]
    assert lines == ["12:00 worker <7> & pool ok"] * 400
    assert all(len(message.styled("pre text")) == 1 for message in messages)


def c07a(_source: str, messages: list[Shown]) -> None:
    assert all(message.styled("bold") == [message.text] for message in messages)
    assert joined(messages, " ") == "alpha beta gamma " * 400 + "omega"


def c07b(_source: str, messages: list[Shown]) -> None:
    for message in messages:
        assert message.entities[0].type.endswith("blockquote")
        assert set(message.styled("bold")) == {"two"}
        assert "*" not in message.text
    italic = all_in("italic", messages)
    assert len(all_in("bold", messages)) == 350
    assert sum(text.count("two") for text in italic) == 350


def c09a(_source: str, messages: list[Shown]) -> None:
    assert all_in("code", messages) == ["check_all --deep"] * 200
    assert "`" not in joined(messages)


def whole_words(source: str, messages: list[Shown]) -> None:
    assert joined(messages, " ").split() == source.split()


def nothing_lost(source: str, messages: list[Shown]) -> None:
    assert joined(messages) == source


def c10b(source: str, messages: list[Shown]) -> None:
    nothing_lost(source, messages)
    assert len(messages) <= 3


def c13a(source: str, messages: list[Shown]) -> None:
    assert joined(messages, "\n") == source.strip()
    assert all(message.text.endswith("care..") for message in messages)


def c16a(source: str, messages: list[Shown]) -> None:
    nothing_lost(source, messages)
    assert len(messages) <= 2


def graphemes_whole(source: str, messages: list[Shown]) -> None:
    nothing_lost(source, messages)
    found = [cluster for message in messages for cluster in regex.findall(r"\X", message.text)]
    assert found == regex.findall(r"\X", source)


def c20a(source: str, messages: list[Shown]) -> None:
    assert joined(messages, " ") == source.strip()


CHECKS: dict[str, Callable[[str, list[Shown]], None]] = {
    "C01a": c01a,
    "C01b": c01b,
    "C05b": c05b,
    "C07a": c07a,
    "C07b": c07b,
    "C09a": c09a,
    "C10a": whole_words,
    "C10b": c10b,
    "C13a": c13a,
    "C16a": c16a,
    "C16b": nothing_lost,
    "C16c": whole_words,
    "C18a": graphemes_whole,
    "C18c": graphemes_whole,
    "C18e": graphemes_whole,
    "C20a": c20a,
}
BLANK = ("C53a", "C53b", "C53c", "C53d")


def test_every_case_has_its_check() -> None:
    assert set(CASES) == set(CHECKS) | set(BLANK)


# "At most N messages" is promised for the whole limit only.
WHOLE_LIMIT_ONLY = ("C10b", "C16a")


@pytest.mark.parametrize(
    ("case", "limit"),
    [
        (case, limit)
        for case in CHECKS
        if case != "C13a"
        for limit in LIMITS
        if limit == max(LIMITS) or case not in WHOLE_LIMIT_ONLY
    ],
)
def test_the_case_holds_at_every_inner_limit(case: str, limit: int) -> None:
    source = CASES[case]["input"]
    CHECKS[case](source, sent(source, limit))


@pytest.mark.parametrize("limit", range(4000, 4097, 16))
def test_a_hundred_lines_are_two_messages_for_any_limit_from_4000(limit: int) -> None:
    source = CASES["C13a"]["input"]
    messages = sent(source, limit)
    assert len(messages) == 2
    c13a(source, messages)


@pytest.mark.parametrize("case", BLANK)
def test_a_blank_reply_has_no_pieces(case: str) -> None:
    assert sent(CASES[case]["input"], 4096) == []


def test_no_two_neighbours_of_any_case_would_fit_into_one() -> None:
    for case in CASES.values():
        for left, right in pairwise(sent(case["input"], 4096)):
            assert left.units + right.units > 4096 - 2 or len(left.entities) + len(right.entities) > 100


def test_the_skin_tone_is_never_first() -> None:
    messages = sent(CASES["C18c"]["input"], 4096)
    assert not any(re.match("[\U0001f3fb-\U0001f3ff]", message.text) for message in messages)
