"""Where graphemes end: looked for near the cut, and the same as if all before it were counted."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gateway.chunking.boundaries import _grapheme_end

pytestmark = pytest.mark.req("DLV-3")

GRAPHEME = regex.compile(r"\X")
TEXTS = st.lists(
    st.sampled_from(
        [
            "a",
            "1",
            " ",
            "\n",
            "é",
            "e\u0301",
            "👩‍👩‍👧",
            "🇩🇪",
            "क्ष",
            "한",
            "\u1100\u1161",
            "你",
            "\u200d",
            "\u0600",
            "\u0301" * 70,
        ]
    ),
    min_size=1,
    max_size=30,
).map("".join)


@given(text=TEXTS | st.text(min_size=1), data=st.data())
def test_a_grapheme_ends_where_counting_from_the_beginning_says(text: str, data: st.DataObject) -> None:
    ends = [match.end() for match in GRAPHEME.finditer(text)]
    begin = data.draw(st.sampled_from([0, *ends[:-1]]))
    end = data.draw(st.integers(begin, len(text)))
    fitting = [at for at in ends if begin < at <= end]
    expected = fitting[-1] if fitting else end if end > begin else next(at for at in ends if at > begin)
    assert _grapheme_end(text, begin, end) == expected
