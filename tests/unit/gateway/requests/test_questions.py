"""A question's card: literal, within every platform's limits, and what its buttons mean."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.document import plain
from gateway.requests.questions import (
    ANSWER,
    Question,
    first_offers,
    open_card,
    reminder,
    settled_card,
    whole,
)

pytestmark = pytest.mark.req("TOL-6", "APR-2")

AT = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
texts = st.text(min_size=1, max_size=1_500)
questions = st.builds(
    Question,
    text=texts,
    asked=st.text(min_size=1, max_size=200),
    choices=st.lists(st.text(min_size=1, max_size=60), max_size=10).map(tuple),
    takes_text=st.booleans(),
    by=st.text(max_size=100),
)


def measure(body: object) -> int:
    return len(plain(body))  # type: ignore[arg-type]


@given(question=questions)
def test_a_question_is_read_back_as_it_was_written(question: Question) -> None:
    assert Question.from_json(question.to_json()) == question


@given(question=questions)
def test_every_card_fits_the_smallest_platform(question: Question) -> None:
    bounds = {"measure": measure, "limit": 2_000}
    assert measure(open_card(question, 30, **bounds).body) <= 2_000  # type: ignore[arg-type]
    assert measure(reminder(question, kept=1, **bounds)) <= 2_000  # type: ignore[arg-type]
    settled = settled_card(question, "answered", by="Ann", at=AT, answer="x" * 5_000, **bounds)  # type: ignore[arg-type]
    assert measure(settled.body) <= 2_000


@given(question=questions)
def test_each_choice_has_one_button_in_at_most_five_rows_of_at_most_five(question: Question) -> None:
    rows = first_offers(question, show_all=False)
    assert len(rows) <= 5
    assert max(map(len, rows)) <= 5
    wanted = [f"{ANSWER}{number}" for number in range(len(question.choices))]
    assert [offer.choice for row in rows for offer in row] == [*wanted, "deny"]


@pytest.mark.parametrize(
    ("state", "title"),
    [
        ("answered", "✅ Answered by Ann at 12:30 UTC: M"),
        ("denied", "➖ Skipped by Ann at 12:30 UTC"),
        ("expired", "⌛ Expired at 12:30 UTC: no answer"),
        ("closed", "⏹ Closed at 12:30 UTC without an answer"),
    ],
)
def test_a_settled_card_says_what_became_of_it(state: str, title: str) -> None:
    question = Question(text="Which size?", asked="Ann")
    card = settled_card(question, state, by="Ann", at=AT, answer="M", measure=measure, limit=2_000)  # type: ignore[arg-type]
    assert plain(card.body) == f"{title}\n\nWhich size?"


def test_words_are_a_choice_by_its_label_else_themselves() -> None:
    free = Question(text="?", asked="Ann", choices=("Yes", "No"))
    bound = Question(text="?", asked="Ann", choices=("Yes", "No"), takes_text=False)
    assert [free.reads(words) for words in (" yes ", "perhaps", " ")] == ["Yes", "perhaps", None]
    assert [bound.reads(words) for words in ("NO", "perhaps")] == ["No", None]


def test_a_question_too_long_for_its_card_is_a_tap_away() -> None:
    question = Question(text="x" * 1_500, asked="Ann")
    card = open_card(question, 30, measure=measure, limit=500)
    assert card.hidden > 0
    assert [offer.label for offer in first_offers(question, show_all=True)[-1]] == ["Skip", "Show all"]
    assert "x" * 1_500 in plain(whole(question))
