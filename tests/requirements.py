"""The table `requirements.toml`: which tests show which row of FEATURES.md.

The marks (`@pytest.mark.req("DLV-2")`) are the source; people review the table's diff.

    python -m tests.requirements --check    does the table say what the marks say? (part of `make check`)
    python -m tests.requirements --write    write it anew from the marks

Ids under `pending` are rows that no test shows yet. A new row is added there by hand; an id that stands nowhere in
the table is a misprint. That every listed test also ran is checked by `conftest.py` in a full run (`make test`).
"""

import argparse
import contextlib
import io
import json
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("requirements.toml")
HEADER = """\
# Which tests show which row of FEATURES.md, and which rows no test shows yet (`pending`).
# Written by `python -m tests.requirements --write` from the tests' marks; read the diff.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Ids without tests, and the node ids of tests (without parameters) of each other id."""

    pending: frozenset[str]
    shown: Mapping[str, tuple[str, ...]]

    @property
    def ids(self) -> frozenset[str]:
        return self.pending | self.shown.keys()

    @property
    def tests(self) -> frozenset[str]:
        return frozenset(test for tests in self.shown.values() for test in tests)


def parse_table(text: str) -> Table:
    content = tomllib.loads(text)
    return Table(
        pending=frozenset(content["pending"]),
        shown={requirement: tuple(tests) for requirement, tests in content["shown"].items()},
    )


def render_table(table: Table) -> str:
    lines = [HEADER, "pending = ["]
    lines += [f"  {', '.join(map(json.dumps, group))}," for group in _by_family(table.pending)]
    lines += ["]", "", "[shown]"]
    for requirement in sorted(table.shown, key=_order):
        lines += [f"{requirement} = [", *(f"  {json.dumps(test)}," for test in table.shown[requirement]), "]"]
    return "\n".join(lines) + "\n"


def from_marks(marks: Mapping[str, Iterable[str]], ids: frozenset[str]) -> Table:
    """The table that these marks (id → tests) make, over all known ids."""
    return Table(
        pending=ids - marks.keys(),
        shown={requirement: tuple(sorted(set(tests))) for requirement, tests in marks.items()},
    )


def differences(table: Table, marks: Mapping[str, Iterable[str]]) -> list[str]:
    """What table and marks disagree about, one line each."""
    found = [
        f"{requirement} stands in no row of the table: misspelt, or a new row for `pending`"
        for requirement in sorted(marks.keys() - table.ids)
    ]
    found += [
        f"{requirement} is pending and shown at once"
        for requirement in sorted(table.pending & table.shown.keys())
    ]
    for requirement in sorted(table.ids & (table.shown.keys() | marks.keys()), key=_order):
        listed, marked = set(table.shown.get(requirement, ())), set(marks.get(requirement, ()))
        found += [f"{requirement}: {test} has the mark and is not listed" for test in sorted(marked - listed)]
        found += [
            f"{requirement}: {test} is listed and has no such mark, or is gone"
            for test in sorted(listed - marked)
        ]
    return found


def not_run(table: Table, passed: set[str], skipped: set[str]) -> list[str]:
    """The listed tests that a full run did not run, one line each; failed ones have spoken for themselves."""
    return [
        f"{test} was skipped" if test in skipped else f"{test} did not run"
        for test in sorted(table.tests - passed)
    ]


def collect_marks() -> dict[str, list[str]]:
    """The marks of all tests, by collecting them in this process.

    Raises:
        SystemExit: a test file cannot be imported.
    """

    class Collector:
        def __init__(self) -> None:
            self.marks: defaultdict[str, list[str]] = defaultdict(list)

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            for item in session.items:
                for mark in item.iter_markers("req"):
                    for requirement in mark.args:
                        self.marks[requirement].append(test_of(item.nodeid))

    collector = Collector()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider"], plugins=[collector])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        _, errors, what = output.getvalue().partition("= ERRORS =")
        sys.exit(errors + what if errors else output.getvalue())
    return dict(collector.marks)


def test_of(nodeid: str) -> str:
    """A node id without its parameters."""
    return nodeid.partition("[")[0]


test_of.__test__ = False  # type: ignore[attr-defined] - no test, though its name begins like one


def _order(requirement: str) -> tuple[str, int]:
    family, _, number = requirement.partition("-")
    return family, int(number) if number.isdecimal() else 0


def _by_family(ids: Iterable[str]) -> list[list[str]]:
    families: defaultdict[str, list[str]] = defaultdict(list)
    for requirement in sorted(ids, key=_order):
        families[_order(requirement)[0]].append(requirement)
    return list(families.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.requirements", description=__doc__.partition("\n")[0]
    )
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--check", action="store_true", help="compare the table with the marks")
    group.add_argument("--write", action="store_true", help="write the table from the marks")
    write = parser.parse_args().write
    table, marks = parse_table(TABLE.read_text("utf-8")), collect_marks()
    if write and not marks.keys() - table.ids:
        table = from_marks(marks, table.ids)
        TABLE.write_text(render_table(table), "utf-8")
    problems = differences(table, marks)
    if problems:
        hint = "" if write else "\nIf the marks are right: python -m tests.requirements --write"
        sys.exit("\n".join(problems) + hint)
    print(f"{len(table.shown)} rows shown by {len(table.tests)} tests, {len(table.pending)} pending")


if __name__ == "__main__":
    main()
