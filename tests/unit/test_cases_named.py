"""Every case of approvals, access, secrets and sessions, and every card, is named in the test that shows it."""

import re
from pathlib import Path

from tests.cases import load

TESTS = Path(__file__).parents[1]
KINDS = {"approvals", "auth", "security", "sessions"}

LATER = {"C107a"}
"""Of the web console, which does not exist yet."""


def named() -> set[str]:
    """All ids of cases in comments and docstrings of tests; `C53a-c` names three."""
    found: set[str] = set()
    for file in {*TESTS.rglob("test_*.py")} - {Path(__file__)}:
        for number, first, last in re.findall(r"\b(C\d+)([a-z])(?:-([a-z]))?", file.read_text("utf-8")):
            found |= {f"{number}{chr(each)}" for each in range(ord(first), ord(last or first) + 1)}
    return found


def test_every_case_about_who_may_do_what_is_named_by_a_test() -> None:
    scenarios = [case for case in load("scenarios") if KINDS & set(case["kind"].split(", "))]
    wanted = {case["id"] for case in [*scenarios, *load("cards")]}

    assert len(wanted) > 50
    assert wanted - named() <= LATER
