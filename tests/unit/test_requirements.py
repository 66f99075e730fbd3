"""The table of requirements is held against the tests both ways."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import requirements
from tests.requirements import Table, differences, from_marks, not_run, parse_table, render_table

IDS = st.builds("{}-{}".format, st.sampled_from(["ACC", "OPS", "QUE"]), st.integers(1, 99))
NAMES = st.builds("tests/test_{}.py::test_{}".format, st.integers(1, 3), st.sampled_from(["a", 'b"', "é"]))
MARKS = st.dictionaries(IDS, st.lists(NAMES, min_size=1, max_size=4), max_size=5)


@given(st.frozensets(IDS), MARKS)
def test_a_table_made_from_marks_agrees_with_them_and_survives_being_written(ids, marks):
    table = from_marks(marks, ids | marks.keys())

    assert differences(table, marks) == []
    assert parse_table(render_table(table)) == table
    assert table.ids == ids | marks.keys()


def test_every_disagreement_is_named():
    table = Table(
        pending=frozenset({"OPS-1", "OPS-2"}), shown={"OPS-2": ("a::kept", "a::gone"), "OPS-3": ("a::gone",)}
    )

    assert differences(table, {"OPS-2": ["a::kept", "a::new"], "OPX-1": ["a::kept"]}) == [
        "OPX-1 stands in no row of the table: misspelt, or a new row for `pending`",
        "OPS-2 is pending and shown at once",
        "OPS-2: a::new has the mark and is not listed",
        "OPS-2: a::gone is listed and has no such mark, or is gone",
        "OPS-3: a::gone is listed and has no such mark, or is gone",
    ]


def test_a_listed_test_must_have_passed_and_a_failed_one_has_spoken_for_itself():
    table = Table(pending=frozenset(), shown={"OPS-2": ("a::one", "a::two"), "OPS-3": ("a::two", "a::three")})

    assert not_run(table, passed={"a::one"}, skipped={"a::three"}) == [
        "a::three was skipped",
        "a::two did not run",
    ]


PROJECT = """
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_runs(number):
    pass

def test_is_skipped():
    pytest.skip("no reason")
"""


@pytest.mark.parametrize(
    ("listed", "extra", "status", "told"),
    [
        ("test_runs", [], 0, []),
        ("test_is_skipped", ["-p", "xdist", "-n", "1"], 1, ["tests/test_a.py::test_is_skipped was skipped"]),
        ("test_runs", ["-k", "skipped"], 1, ["tests/test_a.py::test_runs did not run"]),
    ],
)
def test_a_full_run_fails_for_a_listed_test_that_did_not_run(tmp_path, listed, extra, status, told):
    folder = tmp_path / "tests"
    folder.mkdir()
    for name in ("__init__.py", "conftest.py", "loopback.py", "postgres.py", "requirements.py"):
        shutil.copy(Path(requirements.__file__).with_name(name), folder)
    (folder / "test_a.py").write_text(PROJECT)
    (folder / "requirements.toml").write_text(
        f'pending = []\n[shown]\n"OPS-1" = ["tests/test_a.py::{listed}"]\n'
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--requirements", "-p", "no:cacheprovider", *extra, "tests"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # each would cost the run a second
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == status, done.stdout + done.stderr
    assert [
        line for line in done.stdout.splitlines() if line.endswith((" did not run", " was skipped"))
    ] == told
