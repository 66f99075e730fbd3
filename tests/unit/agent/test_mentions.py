"""Who is spoken to by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tasks.mentions import mentioned

pytestmark = pytest.mark.req("AGT-3")

AGENTS = ("default", "Coder", "coder-2", "Übersetzer", "two words")


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("@coder mend it", "Coder"),
        ("please, @CODER, mend it", "Coder"),
        ("ask @coder.", "Coder"),
        ("ask (@coder)", "Coder"),
        ("@coder-2 instead", "coder-2"),
        ("@coder: and @default", "Coder"),
        ("@übersetzer bitte", "Übersetzer"),
        ("@two words, please", "two words"),
        ("no one", None),
        ("@codery", None),
        ("@coder_x", None),
        ("@coder-3", None),
        ("me@coder", None),
        ("me.x@coder.org", None),
        ("@coder.org", None),
        ("@@coder", None),
        ("@nobody and then @Default", "default"),
        ("@", None),
    ],
)
def test_a_configured_name_is_meant_and_other_words_stay_text(text: str, agent: str | None) -> None:
    assert mentioned([text], AGENTS) == agent


def test_the_first_piece_that_names_somebody_counts() -> None:
    assert mentioned(["nobody", "then @coder", "and @default"], AGENTS) == "Coder"


def test_a_name_is_not_put_together_from_two_pieces() -> None:
    assert mentioned(["@co", "der"], AGENTS) is None


@given(text=st.text(), names=st.sets(st.text(min_size=1, max_size=5), max_size=4))
def test_whatever_is_found_is_configured(text: str, names: set[str]) -> None:
    assert mentioned([text], names) in {None, *names}
