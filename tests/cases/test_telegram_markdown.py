"""The shared Markdown cases of Telegram, judged by the simulator's own reading of what was sent."""

from collections.abc import Callable

import pytest

from gateway.document import parse, plain
from tests.cases import by_id
from tests.cases.telegram_view import Shown, show

pytestmark = pytest.mark.req("DLV-4")
CASES = by_id("markdown", "Telegram")


def c22a(shown: Shown) -> None:
    assert plain(parse(CASES["C22a"]["input"])) == CASES["C22a"]["visible"]


def c24a(shown: Shown) -> None:
    assert shown.text == "Plan:\n\nDay │    Task\nMon │   Paint\nTue │ Sand & oil\n\nEnd."
    assert shown.styled("pre") == ["Day │    Task\nMon │   Paint\nTue │ Sand & oil"]


def c26a(shown: Shown) -> None:
    assert shown.text == "Ship it.\nThen rest.\n\nDone."
    assert shown.styled("blockquote") == ["Ship it.\nThen rest."]


def c27a(shown: Shown) -> None:
    assert shown.text == "1. Start:\n\nmake it\n\n2. End"
    assert shown.styled("pre") == ["make it"]


def c29c(shown: Shown) -> None:
    assert shown.entities == ()


def c31a(shown: Shown) -> None:
    assert shown.text == "This is fine; press   or  two ."
    assert shown.styled("italic") == ["fine"]
    assert shown.styled("code") == [" ", " two "]


def c32b(shown: Shown) -> None:
    assert shown.text == "Plan for x"
    assert shown.styled("bold") == ["Plan for "]
    assert shown.styled("code") == ["x"]


def c33b(shown: Shown) -> None:
    assert shown.text == "重要：请看"
    assert shown.styled("bold") == ["重要："]


def c35b(shown: Shown) -> None:
    assert shown.text == "1. one\n   • a\n   • b\n2. two"


def as_listed(shown: Shown) -> None:
    """Only `visible` and `spans` of the case."""


CHECKS: dict[str, Callable[[Shown], None]] = {
    "C21a": as_listed,
    "C22a": c22a,
    "C24a": c24a,
    "C24b": as_listed,
    "C26a": c26a,
    "C27a": c27a,
    "C29a": as_listed,
    "C29c": c29c,
    "C31a": c31a,
    "C32b": c32b,
    "C33b": c33b,
    "C35b": c35b,
}


def test_every_case_has_its_check() -> None:
    assert set(CASES) == set(CHECKS)


@pytest.mark.parametrize("case", CHECKS)
def test_the_reader_sees_what_the_case_says(case: str) -> None:
    given = CASES[case]
    shown = show(parse(given["input"]), 4096)
    assert shown.text == given.get("visible", shown.text)
    for style, text in given.get("spans", []):
        assert shown.styled(style) == [text]
    if "spans" in given:
        assert len(shown.entities) == len(given["spans"])
    CHECKS[case](shown)
