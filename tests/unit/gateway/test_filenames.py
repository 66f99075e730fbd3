"""Names of files, as strangers, tools and models give them."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.filenames import MAX_BYTES, safe_name, slug

pytestmark = pytest.mark.req("ADP-8")

CASES = json.loads((Path(__file__).parents[2] / "cases" / "filenames.json").read_text())
STORED = {
    "C110a": "outside.txt",
    "C110b": "outside.txt",
    "C110c": "stray.txt",
    "C110d": "stray.txt",
    "C110e": "ab.txt",
    "C110f": ("long" * 200)[: MAX_BYTES - 4] + ".pdf",
    "C110g": "file",
    "C110h": "file",
    "C110i": "bashrc",
    "C110j": "invoicefdp.exe",
    "C110k": "報告書.pdf",
    "C110l": "_con.txt_attachment_other.txt",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_senders_name_is_made_safe(case: dict[str, object]) -> None:
    name = case["name"]
    text = name if isinstance(name, str) else "".join(text * times for text, times in name["concat"])
    assert safe_name(text) == STORED[str(case["id"])]


@given(st.text() | st.text(alphabet='./\\: \n\t\x00"a\u202e[]').map(lambda text: text + ".md"))
def test_a_safe_name_is_one_line_within_its_folder_and_stays_the_same(given_name: str) -> None:
    name = safe_name(given_name)
    folder = Path("attachments").absolute()
    assert (folder / name).parent == folder
    assert (folder / name).resolve().parent == folder.resolve()
    assert name
    assert len(name.encode()) <= MAX_BYTES
    assert not name.startswith(".")
    assert not set(name) & set('/\\[]<>:"|?*')
    assert not any(char.isspace() or unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in name)
    assert safe_name(name) == name


def test_the_ending_survives_a_long_name() -> None:
    assert safe_name("報" * 100 + ".tar.gz").endswith(".gz")


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("All about trees", "all-about-trees"),
        ("1. A *plan*: step/by/step!", "1-a-plan-step-by-step"),
        ("報告 二", "報告-二"),
        ("🦉", ""),
        ("a " * 20, "a-a-a-a-a-a-a-a"),
    ],
)
def test_a_title_becomes_a_stem(title: str, stem: str) -> None:
    assert slug(title) == stem


@given(st.text())
def test_a_stem_is_a_safe_name(title: str) -> None:
    stem = slug(title)
    assert not stem or safe_name(f"{stem}.md").endswith(f"{stem}.md")
