"""Where a conversation may be cut, and what is kept: for every cut the history stays valid."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturnPart

from agent.context.cut import MARKER, find_cut, protections
from agent.context.folding import Keeping, folded, kept, moved
from agent.context.tokens import mark_of
from agent.events import Compressed
from tests.simulators.model.history import check_messages
from tests.unit.agent.context.conversations import (
    again,
    asks,
    calls,
    dumped,
    from_case,
    histories,
    results,
    says,
    user_words,
    wire,
)
from tests.unit.agent.scripted import strictly_valid

pytestmark = pytest.mark.req("CTX-1")

CASES = json.loads((Path(__file__).parents[3] / "cases" / "histories.json").read_text())


def cut_all(messages, *, first, last, pin_from):
    """The conversation after a cut, and the cut; the same list and None if there is nothing to cut."""
    cut = find_cut(messages, first=first, last=last, pin_from=pin_from)
    if cut is None:
        return list(messages), None
    return [*messages[: cut.start], cut.joined("what was", 1.0), *messages[cut.stop :]], cut


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
@pytest.mark.parametrize("first", range(1, 8))
@pytest.mark.parametrize("last", range(1, 10))
def test_the_cases_keep_their_promises_at_every_cut(case, first, last):
    messages = from_case(case["history"])
    newest = max(n for n, m in enumerate(messages) if user_words([m]))
    shorter, cut = cut_all(messages, first=first, last=last, pin_from=newest)
    check_messages(wire(shorter))
    strictly_valid(shorter, closed=isinstance(shorter[-1], ModelResponse))
    assert user_words(messages)[-1] in user_words(shorter)
    if cut is not None:
        behind = shorter[cut.start + 1]
        assert isinstance(behind, ModelResponse)


@given(histories(), st.integers(1, 8), st.integers(1, 24))
def test_a_cut_keeps_pairs_order_and_every_protected_message_word_for_word(given_, first, last):
    messages, begins = given_
    shorter, cut = cut_all(messages, first=first, last=last, pin_from=begins)
    strictly_valid(shorter)
    check_messages(wire(shorter))
    assert user_words(shorter)[-len(user_words(messages[begins:])) :] == user_words(messages[begins:])
    if cut is None:
        return
    assert shorter[: cut.start] == messages[: cut.start]
    assert dumped(shorter[cut.start + 1 :]) == dumped(messages[cut.stop :])
    assert len(messages) - cut.stop >= min(last, len(messages))
    assert cut.start >= first - 2
    assert mark_of(shorter[cut.start]).tail == len(messages) - cut.stop
    summary = shorter[cut.start].parts[mark_of(shorter[cut.start]).part]
    assert summary.content == f"{MARKER}\nwhat was"
    head = [part for message in messages[: first - 1] for part in message.parts]
    seen = [part for message in shorter for part in message.parts]
    assert all(part in seen for part in head)


@given(histories(), st.lists(st.tuples(st.integers(1, 5), st.integers(1, 20)), min_size=1, max_size=4))
def test_one_cut_after_the_other_stays_valid_and_takes_earlier_summaries_in(given_, steps):
    messages, pin = given_
    for first, last in steps:
        said = user_words(messages[pin:])
        cut = find_cut(messages, first=first, last=last, pin_from=pin)
        if cut is None:
            continue
        record = Compressed(start=cut.start, stop=cut.stop, message_json="", tokens_before=0, tokens_after=0)
        shorter = [*messages[: cut.start], cut.joined("what was", 1.0), *messages[cut.stop :]]
        messages, pin = again(shorter), moved(pin, [record])
        strictly_valid(messages)
        assert [word for word in user_words(messages[pin:]) if word in said][-len(said) :] == said
        assert sum(mark_of(message) is not None for message in messages) == 1


@given(st.data(), st.lists(st.text(max_size=3), max_size=9), st.lists(st.text(max_size=3), max_size=9))
def test_what_is_stored_is_the_folded_list(data, history, closed):
    records = []
    entries = [*history, *closed]
    for number in range(data.draw(st.integers(0, 3))):
        if not entries:
            break
        start = data.draw(st.integers(0, len(entries) - 1))
        stop = data.draw(st.integers(start + 1, len(entries)))
        record = Compressed(
            start=start, stop=stop, message_json=f"S{number}", tokens_before=0, tokens_after=0
        )
        records.append(record)
        entries = folded(entries, [record], [record.message_json])
    found = kept(history, closed, records)
    assert len(found.instead) <= found.stop - found.start
    stored = [*history[: found.start], *found.instead, *history[found.stop :], *found.appended]
    assert stored == entries


def test_without_a_compression_a_turn_is_only_appended():
    assert kept(["a", "b"], ["c"], ()) == Keeping(start=2, stop=2, appended=("c",))


def test_a_head_that_ends_with_a_call_takes_its_result_along():
    messages = [
        asks("go"),
        calls("c1"),
        results("c1"),
        calls("c2"),
        results("c2"),
        calls("c3"),
        results("c3"),
    ]
    shorter, cut = cut_all(messages, first=3, last=2, pin_from=0)
    assert (cut.start, cut.stop) == (2, 5)
    assert [type(part) for part in shorter[2].parts] == [ToolReturnPart, type(asks("").parts[0])]
    strictly_valid(shorter)


def test_the_question_of_a_long_turn_stays_when_all_around_it_goes():
    turn = [asks("the question"), *[m for n in range(30) for m in (calls(f"c{n}"), results(f"c{n}"))]]
    messages = [asks("hello"), says("hi"), asks("old"), says("so"), *turn]
    shorter, _ = cut_all(messages, first=3, last=20, pin_from=4)
    assert user_words(shorter) == ["hello", "the question"]
    assert len(shorter) == 23
    assert isinstance(shorter[2], ModelRequest)


def test_nothing_is_cut_where_only_a_summary_stands_between():
    messages = [asks("1"), says("2"), asks("3"), says("4"), asks("5"), says("6"), asks("7")]
    shorter, _ = cut_all(messages, first=3, last=2, pin_from=6)
    assert find_cut(shorter, first=3, last=2, pin_from=4) is None


def test_the_tail_shrinks_before_the_head_and_ends_at_a_floor():
    assert protections(3, 20) == ((3, 20), (3, 10), (3, 5), (3, 2), (1, 2))
    assert protections(1, 1) == ((1, 1),)
