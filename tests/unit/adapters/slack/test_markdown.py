"""Markdown for what can only be added to: what is written once is never to be taken back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.markdown import settled
from gateway.document import parse
from tests.cases.markdown_strategies import MARKDOWN

pytestmark = pytest.mark.req("DLV-5")

REPLY = """# A *title*

Here are some:
- one
- two

Some words with **bold**, `code`, 2 * 3 * 4, snake_case_names & a [link](https://example.org/a).
The next line of it.

- first
- second **item**
  - nested
- third

1. one
2. two

```python
def f(x):
    return x  # ``not the end``
```

> quoted
> twice

| a | b |
| --- | --- |
| 1 | 2 |
| 3 | 4 |

The end, with https://example.org/b in it.
"""


def test_of_a_usual_reply_nothing_that_was_written_is_taken_back() -> None:
    before = ""
    for length in range(1, len(REPLY) + 1):
        now = settled(parse(REPLY[:length]))
        assert now.startswith(before) or before.startswith(now), (before[-40:], now[-40:])
        before = max(before, now, key=len)
    assert before.endswith("The end, with https://example.org/b in it.")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It **gr", "It "),
        ("a `b", "a "),
        ("see [the", "see "),
        ("a < b", "a "),
        ("2 * 3\n\nnext", "2 \\* 3\n\nnext"),
        ("```py\n", ""),
        ("```py\nx = 1", "```py\nx = 1"),
        ("```py\nx = 1\n``", "```py\nx = 1"),
        ("| a | b |\n| - | - |\n| 1 | 2", "| a | b |\n| --- | --- |"),
        ("<!channel>\n\nx", "\\<\u200b!channel\\>\n\nx"),
        ("", ""),
    ],
)
def test_what_a_further_word_could_change_is_left_out(text: str, written: str) -> None:
    assert settled(parse(text)) == written


@given(MARKDOWN, st.sampled_from(["x", "x y", "**x**"]))
def test_whatever_is_written_is_whole_when_another_block_follows(text: str, end: str) -> None:
    """Blocks that another one follows are not touched by what comes after that."""
    first = settled(parse(f"{text}\n\n---\n\n{end}"))
    assert settled(parse(f"{text}\n\n---\n\n{end} more words")).startswith(first)
