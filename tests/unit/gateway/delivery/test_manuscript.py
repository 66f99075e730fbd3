"""A reply while it is written: what is shown next, whatever became of what was shown before."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.render import measure
from gateway.delivery.manuscript import Grow, Manuscript, Open, Sheet, Sketch, Step
from gateway.document import plain

pytestmark = pytest.mark.req("DLV-5")


class Show:
    """A platform that shows what a manuscript asks for; `limit` counts as Telegram counts."""

    def __init__(self, limit: int, *, is_native: bool = False) -> None:
        self.script = Manuscript(measure=measure, limit=limit, is_native=is_native)
        self.shown: list[str] = []
        self.dead: set[int] = set()
        self.sketches: list[str] = []

    def step(self) -> Step | None:
        source = self.script.source()
        step = self.script.look(source, self.script.cut(source))
        match step:
            case Open():
                assert step.number == len(self.script.sheets)
                sheet = Sheet(
                    row_id=step.number, message_id=str(step.number), upto=step.upto, edition=step.edition
                )
                self.script.sheets.append(replace(sheet, shown=step.body))
                self.shown.append(plain(step.body))
            case Grow() if step.number in self.dead:
                self.script.lost(step.number)
            case Grow():
                self.shown[step.number] = plain(step.body)
                self.script.sees(step.number, step.body, step.upto, step.edition)
            case Sketch():
                self.script.sketched = step.body
                self.sketches.append(plain(step.body))
        return step

    def catch_up(self) -> None:
        for _ in range(1_000):
            if self.step() is None:
                return
        raise AssertionError("it never comes to rest")

    def say(self, text: str) -> None:
        self.script.add(text)
        self.catch_up()


def words(begin: int, end: int) -> str:
    return " ".join(f"word{number}" for number in range(begin, end))


def joined(shown: list[str]) -> str:
    return " ".join(" ".join(shown).split())


def test_the_oldest_message_is_whole_before_the_next_one_begins() -> None:
    show = Show(limit=60)
    show.say(words(0, 5))
    show.script.add(" " + words(5, 20))
    steps = []
    while (step := show.step()) is not None:
        steps.append((type(step), step.number))
    assert steps == [(Grow, 0), (Open, 1), (Open, 2)]


def test_nothing_is_asked_for_while_a_first_send_is_under_way() -> None:
    show = Show(limit=60)
    show.script.sheets.append(Sheet(row_id=1))
    show.say(words(0, 30))
    assert show.shown == []


def test_what_was_cut_before_the_text_was_taken_back_is_out_of_date() -> None:
    show = Show(limit=60)
    show.script.add("old")
    source = show.script.source()
    growth = show.script.cut(source)
    assert show.script.take_back()
    assert show.script.look(source, growth) is None


def test_a_second_edition_is_shown_in_the_messages_of_the_first() -> None:
    show = Show(limit=60)
    show.say(words(0, 20))
    show.script.take_back()
    show.say("new " + words(0, 18))
    assert joined(show.shown) == "new " + words(0, 18)
    assert len(show.shown) == 3


def test_a_draft_is_sketched_until_it_is_full() -> None:
    show = Show(limit=60, is_native=True)
    show.say(words(0, 5))
    assert (show.shown, show.sketches) == ([], [words(0, 5)])
    show.say(" " + words(5, 12))
    assert joined([*show.shown, show.sketches[-1]]) == words(0, 12)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4), st.booleans()), min_size=1, max_size=12),
    st.integers(40, 120),
)
def test_whatever_messages_are_lost_under_way_every_word_is_shown_once(
    says: list[tuple[int, int, bool]], limit: int
) -> None:
    """Between any two sayings the newest message may be lost: deleted, or no longer to be edited."""
    show, said = Show(limit=limit), 0
    for count, _, loses in says:
        show.say((" " if said else "") + words(said, said + count))
        said += count
        if loses and show.shown:
            show.dead.add(len(show.shown) - 1)
    assert joined(show.shown) == words(0, said)


@given(st.integers(1, 30), st.integers(1, 30))
def test_the_rest_of_a_message_that_takes_no_last_edit_is_what_it_did_not_show(seen: int, rest: int) -> None:
    show = Show(limit=4_096)
    show.say(words(0, seen))
    show.script.add(" " + words(seen, seen + rest))
    source = show.script.source()
    missing = show.script.rest_of(0, source)
    assert missing is not None
    assert plain(missing).strip() == words(seen, seen + rest)
