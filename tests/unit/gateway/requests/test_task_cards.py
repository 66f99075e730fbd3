"""Task cards: who takes over, or what has ended, in words that nobody else can forge."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.render import measure
from gateway.document import plain
from gateway.requests.cards import Asking
from gateway.requests.faces import Face, Settling, face_of
from gateway.requests.task_cards import TaskPrompt
from gateway.store.requests import RequestState

pytestmark = pytest.mark.req("TSK-2", "TSK-5")

AT = datetime(2026, 1, 1, 10, 5, tzinfo=UTC)
BEGIN = TaskPrompt(what="begin", agent="coder", other="default", text="Mend the build.", asked="Ann")
END = TaskPrompt(what="end", agent="coder", other="default", text="The build is green.", asked="Ann")
LIMIT = 4096


def face(prompt: TaskPrompt) -> Face:
    return face_of("task", prompt.to_json())


def open_text(prompt: TaskPrompt) -> str:
    return plain(face(prompt).open_card(Asking(minutes=30), measure=measure, limit=LIMIT).body)


def settled_text(prompt: TaskPrompt, state: RequestState) -> str:
    settling = Settling(state=state, by="Ann", at=AT)
    return plain(face(prompt).settled_card(settling, measure=measure, limit=LIMIT).body)


def test_a_begin_says_who_hands_what_to_whom_and_what_silence_means() -> None:
    assert open_text(BEGIN) == (
        "default wants to hand a task to coder. Shall coder take over?\n\nMend the build.\n\n"
        "Only Ann may answer, within 30 min. No answer leaves default in charge."
    )
    assert [[offer.label for offer in row] for row in face(BEGIN).first_offers(needed=1, show_all=False)] == [
        ["Accept", "Reject"]
    ]


def test_an_end_says_what_came_out_of_it_and_can_be_put_off() -> None:
    assert open_text(END) == (
        "coder's task is said to be done. Shall it go back to default?\n\nThe build is green.\n\n"
        "Only Ann may answer, within 30 min. No answer asks again another time."
    )
    assert [[offer.label for offer in row] for row in face(END).first_offers(needed=1, show_all=True)] == [
        ["Accept", "Reject", "Later"],
        ["Show all"],
    ]


@pytest.mark.parametrize(
    ("prompt", "state", "title"),
    [
        (BEGIN, "approved", "✅ Accepted by Ann at 10:05 UTC"),
        (BEGIN, "denied", "❌ Rejected by Ann at 10:05 UTC"),
        (BEGIN, "expired", "⌛ Expired at 10:05 UTC: nobody answered, so it was not begun"),
        (BEGIN, "closed", "⏹ Closed at 10:05 UTC: not begun"),
        (END, "approved", "✅ Accepted by Ann at 10:05 UTC"),
        (END, "postponed", "⏳ Put off by Ann at 10:05 UTC"),
        (END, "expired", "⌛ Expired at 10:05 UTC: nobody answered, so I ask again later"),
        (END, "closed", "⏹ Closed at 10:05 UTC: the task stays open"),
    ],
)
def test_a_settled_card_says_what_was_decided_by_whom_and_when(
    prompt: TaskPrompt, state: RequestState, title: str
) -> None:
    assert settled_text(prompt, state).split("\n")[0] == title


@settings(max_examples=30)
@given(
    agent=st.text(max_size=100),
    other=st.text(max_size=100),
    text=st.text(max_size=9_000),
    what=st.sampled_from(["begin", "end"]),
)
def test_any_card_fits_and_round_trips(agent: str, other: str, text: str, what: str) -> None:
    prompt = TaskPrompt(what=what, agent=agent, other=other, text=text, asked="Ann")  # type: ignore[arg-type]
    made = face(prompt).open_card(Asking(minutes=30), measure=measure, limit=LIMIT)

    assert TaskPrompt.from_json(prompt.to_json()) == prompt
    assert measure(made.body) <= LIMIT
    assert "\u202e" not in plain(made.body)
    assert "\u202e" not in plain(face(prompt).reminder(kept=1, measure=measure, limit=LIMIT))


def test_every_ending_has_words_for_who_pressed_and_who_came_too_late() -> None:
    for prompt in (BEGIN, END, replace(END, agent="\u202ecoder")):
        for state in get_args(RequestState):
            assert "\u202e" not in face(prompt).told(state, "")
            assert "\u202e" not in face(prompt).already(state, "Ann")
