"""What each error of a platform means for a message: a table."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapter import Capabilities
from gateway.delivery.outcomes import Again, Anew, Gone, PlainAgain, Refused, Unknown, backoff_s, judge
from gateway.document import text_document
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, RateLimited, SendError, TargetGone
from gateway.messages import Button, OutboundMessage, Target
from gateway.store.outbox import Claimed

TARGET = Target(platform="memory", account="bot", chat_id="1")
BUTTONS = ((Button(label="Once", token="t"),),)


def a_row(*, edits: str | None = None, buttons: Any = (), plain: bool = False, attempts: int = 1) -> Claimed:
    message = OutboundMessage(
        target=TARGET, body=text_document("x"), idem_key="k", buttons=buttons, plain=plain
    )
    return Claimed(id=1, kind="text", message=message, attempts=attempts, turn_id=None, edits=edits)


def of(idempotency: Any) -> Capabilities:
    return Capabilities(measure=lambda _: 1, limit=10, edit_limit=10, idempotency=idempotency)


@pytest.mark.req("DLV-6", "DLV-7")
@pytest.mark.parametrize(
    ("error", "row", "idempotency", "outcome"),
    [
        (RateLimited(7), a_row(), "none", Again(wait_s=7, error="the platform asks to wait 7 s", whole_chat=True)),
        (TargetGone("blocked"), a_row(), "none", Gone(error="blocked")),
        (OutcomeUnknown("time-out"), a_row(), "none", Unknown(error="time-out")),
        (MessageRejected("entities", markup=True), a_row(), "none", PlainAgain()),
        (MessageRejected("entities", markup=True), a_row(plain=True), "none", Refused(error="entities")),
        (MessageRejected("too long"), a_row(), "none", Refused(error="too long")),
        (MessageRejected("deleted"), a_row(edits="9"), "none", Refused(error="deleted")),
        (MessageRejected("deleted"), a_row(edits="9", buttons=BUTTONS), "none", Anew()),
        (MessageRejected("e", markup=True), a_row(edits="9", buttons=BUTTONS), "none", PlainAgain()),
        (SendError("something new"), a_row(), "none", Refused(error="something new")),
    ],
)  # fmt: skip
def test_an_error_decides_what_becomes_of_its_message(
    error: SendError, row: Claimed, idempotency: str, outcome: object
) -> None:
    assert judge(error, row, of(idempotency)) == outcome


@pytest.mark.req("DLV-7")
@pytest.mark.parametrize(
    ("row", "idempotency"), [(a_row(), "key"), (a_row(), "lookup"), (a_row(edits="9"), "none")]
)
def test_an_unknown_outcome_is_repeated_only_where_a_repeat_does_no_harm(
    row: Claimed, idempotency: str
) -> None:
    outcome = judge(OutcomeUnknown("time-out"), row, of(idempotency))

    assert isinstance(outcome, Again)
    assert not outcome.whole_chat


@pytest.mark.req("DLV-6")
@given(attempts=st.integers(1, 10_000))
def test_the_wait_between_tries_grows_to_a_minute_and_never_beyond(attempts: int) -> None:
    outcome = judge(NotSent("refused"), a_row(attempts=attempts), of("none"))

    assert isinstance(outcome, Again)
    assert 0 <= outcome.wait_s <= min(60, 2 ** (attempts - 1))
    assert 0 <= backoff_s(attempts) <= 60
