"""The threat model names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"


def test_every_row_of_the_threat_model_names_tests_that_exist() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    named = [re.findall(r"`((?:flow|unit)/[\w/]+)`", row) for row in rows]

    assert len(rows) > 10
    assert [row for row, tests in zip(rows, named, strict=True) if not tests] == []
    assert [test for tests in named for test in tests if not (TESTS / f"{test}.py").exists()] == []
