"""Results made fit for a model."""

import base64
import random
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.results import ResultFolder, bounded, cut, without_base64

pytestmark = pytest.mark.req("TOL-4")

PNG = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(3000)


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path / "results")


def test_five_megabytes_are_cut_with_a_mark_that_names_size_and_file(folder: ResultFolder):
    """C138a."""
    text = "line of text\n" * 400_000
    given_ = bounded(text, limit=50_000, folder=folder, key="call_1_0_0")
    assert len(given_) <= 50_000
    assert given_.endswith(
        "\n\n[… cut here: the result has 5,200,000 characters; the whole is kept as call_1_0_0.txt]"
    )
    assert (folder.path / "call_1_0_0.txt").read_text("utf-8") == text


def test_a_cut_never_halves_an_emoji(folder: ResultFolder):
    """C139a."""
    text = '{"mood": "👩‍👩‍👧‍👦"}, ' * 3000
    given_ = bounded(text, limit=10_000, folder=folder, key="k")
    kept = given_.partition("\n\n[… cut here")[0]
    assert len(given_) <= 10_000
    assert text.startswith(kept)
    assert regex.findall(r"\X", kept) == regex.findall(r"\X", text)[: len(regex.findall(r"\X", kept))]


def test_a_short_result_is_left_alone_and_writes_nothing(folder: ResultFolder):
    assert bounded("ok", limit=10, folder=folder, key="k") == "ok"
    assert not folder.path.exists()


@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(PNG).decode(),
        base64.urlsafe_b64encode(PNG).decode().rstrip("="),
        base64.encodebytes(PNG).decode().strip(),
        "data:image/png;base64," + base64.b64encode(PNG).decode(),
    ],
    ids=["plain", "url-safe", "mime lines", "data address"],
)
def test_base64_in_a_text_becomes_a_named_file(folder: ResultFolder, encoded: str):
    """C138b."""
    given_ = bounded(f"Here it is: {encoded} and more.", limit=50_000, folder=folder, key="k")
    assert given_ == f"Here it is: [binary data, {len(PNG):,} bytes, kept as k.1.png] and more."
    assert (folder.path / "k.1.png").read_bytes() == PNG


@pytest.mark.parametrize("text", ["a" * 5000, "deadbeef" * 500, "-" * 3000, "ACGT" * 900, "word " * 2000])
def test_long_text_that_is_no_base64_stays(folder: ResultFolder, text: str):
    assert without_base64(text, folder=folder, key="k") == text


@given(st.text(max_size=200), st.integers(min_value=1, max_value=220))
def test_a_cut_is_a_beginning_of_whole_graphemes(text: str, length: int):
    kept = cut(text, length)
    assert text.startswith(kept)
    assert len(kept) <= length
    whole, part = regex.findall(r"\X", text), regex.findall(r"\X", kept)
    assert part == whole[: len(part)] or max(map(len, whole)) > 60 or len(whole[0]) > length


@given(st.text(max_size=400), st.integers(min_value=120, max_value=300))
def test_no_result_is_longer_than_its_limit(tmp_path_factory, text: str, limit: int):
    folder = ResultFolder(tmp_path_factory.getbasetemp() / "results")
    assert len(bounded(text, limit=limit, folder=folder, key="k")) <= limit
