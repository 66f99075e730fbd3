"""Lists as a script gets them, and rough sizes and ages."""

import pytest

from gateway.cli.tables import age, show_table, size
from gateway.clock import to_ms, utc_now

pytestmark = pytest.mark.req("OPS-7")


def test_without_a_terminal_rows_are_lines_and_cells_cannot_break_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_table(("id", "text"), [(1, "two\nlines\tand \x1b[31mred"), (2, "[bold]x[/bold]")], empty="none")
    assert capsys.readouterr().out == "id\ttext\n1\ttwo lines and  [31mred\n2\t[bold]x[/bold]\n"


def test_an_empty_list_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("id",), [], empty="Nothing is there.")
    assert capsys.readouterr().out == "Nothing is there.\n"


@pytest.mark.parametrize(
    ("ago_s", "expected"),
    [(-5, "0 s"), (5, "5 s"), (90, "1 min"), (7_200, "2 h"), (200_000, "2 d")],
)
def test_ages_are_rough(ago_s: int, expected: str) -> None:
    assert age(to_ms(utc_now()) - ago_s * 1000 - 200) == expected


def test_who_never_was_has_no_age() -> None:
    assert age(None) == ""


@pytest.mark.parametrize(("count", "expected"), [(500, "0.5 kB"), (99_000, "99.0 kB"), (4_200_000, "4.2 MB")])
def test_sizes_are_rough(count: int, expected: str) -> None:
    assert size(count) == expected
