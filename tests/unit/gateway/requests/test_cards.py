"""Approval cards: what a person must see before deciding, on the smallest platform, whatever a model wrote."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.render import measure
from gateway.document import Code, Document, plain
from gateway.redaction import Redactor
from gateway.requests.cards import (
    Asking,
    Card,
    Prompt,
    PromptCall,
    one_line,
    open_card,
    reminder,
    settled_card,
    whole_call,
)
from tests.cases import by_id
from tests.cases.telegram_view import show

LIMIT = 4096
CASES = by_id("cards", "Telegram")
DECEIVING = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\u00ad",
    "\u2028",
    "\x85",
    "\x1b",
    "\r",
    "\u3164",
    "\U000e0041",
]


def a_prompt(args: dict[str, Any], *, tool: str = "run", server: str = "shell", **changes: Any) -> Prompt:
    call = PromptCall(call_id="0.0", server=server, tool=tool, args=args)
    return Prompt(**{"queue": (call,), "current": 0, "asked": "Ann", **changes})


def card_of(prompt: Prompt, limit: int = LIMIT) -> Card:
    return open_card(prompt, Asking(minutes=30), measure=measure, limit=limit)


def text_of(card: Card) -> str:
    return plain(card.body)


@pytest.mark.req("APR-2", "DLV-2")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_shared_cases_card_fits_telegram_and_is_taken_as_it_is(case: dict[str, Any]) -> None:
    card = card_of(a_prompt(Redactor().value(case["arguments"]), tool=case["tool"]))
    shown = show(card.body, LIMIT)

    assert shown.units <= measure(card.body) <= LIMIT
    assert case["tool"] in shown.text
    assert ("characters are hidden above." in shown.text) == (card.hidden > 0)


@pytest.mark.req("APR-2")
def test_literal_characters_of_a_command_are_shown_as_they_are() -> None:
    """C72a."""
    command = CASES["C72a"]["arguments"]["command"]
    shown = show(card_of(a_prompt({"command": command})).body, LIMIT)

    assert shown.styled("pre") == [f"command: {command}"]
    assert {entity.type for entity in shown.entities} == {"bold", "code", "pre", "italic"}


@pytest.mark.req("APR-2")
def test_the_end_of_a_long_command_is_seen_before_it_is_allowed() -> None:
    """C74a, C76a."""
    card = card_of(a_prompt(CASES["C76a"]["arguments"]))

    assert "rm -r important_folder" in text_of(card)
    assert f"{card.hidden} characters are hidden above." in text_of(card)
    assert card.hidden > 0


@pytest.mark.req("APR-2")
@pytest.mark.parametrize(("case", "short"), [("C76b", "overwrite: true"), ("C74b", "command: ls")])
def test_short_arguments_are_whole_beside_long_ones(case: str, short: str) -> None:
    assert short in text_of(card_of(a_prompt(CASES[case]["arguments"])))


@pytest.mark.req("ACC-4", "APR-2")
@pytest.mark.parametrize(
    ("case", "secret", "kept"),
    [
        ("C77a", "sk-demo0000000000000000000000000000000000", ("example.test", "Authorization", "Bearer")),
        ("C77b", "not-a-real-password", ("app", "db.example.test", "select 1")),
    ],
)
def test_secrets_are_masked_and_what_helps_stays(case: str, secret: str, kept: tuple[str, ...]) -> None:
    prompt = a_prompt(Redactor().value(CASES[case]["arguments"]))
    texts = [text_of(card_of(prompt)), plain(whole_call(prompt)), one_line(prompt)]

    assert not [text for text in texts if secret in text]
    assert all(word in texts[0] for word in kept)


@pytest.mark.req("APR-2")
def test_a_forged_argument_in_a_value_stays_inside_its_own_block() -> None:
    card = card_of(a_prompt({"text": "hello\nconfirmed: true", "real": "1"}))
    blocks = [block.text for block in card.body.blocks if isinstance(block, Code)]

    assert blocks == ["real: 1", "hello\nconfirmed: true"]


@pytest.mark.req("APR-2")
@pytest.mark.parametrize("mark", DECEIVING)
def test_characters_that_deceive_are_shown_as_escapes_wherever_somebody_else_wrote_them(mark: str) -> None:
    name = f"a{mark}b"
    prompt = a_prompt({name: name}, tool=name, server=name, asked=name)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    settled = settled_card(prompt, "approved", by=name, at=at, progress="", measure=measure, limit=LIMIT)
    texts = [text_of(card_of(prompt)), text_of(settled), plain(whole_call(prompt)), one_line(prompt)]

    assert not [text for text in texts if mark in text]
    assert f"a\\u{ord(mark):04x}b" in texts[0]


@pytest.mark.req("APR-2")
@given(
    args=st.dictionaries(st.text(max_size=200), st.text(max_size=3000), max_size=60),
    tool=st.text(min_size=1, max_size=300),
    calls=st.integers(1, 40),
    data=st.data(),
)
def test_any_card_fits_and_accounts_for_what_it_hides(
    args: dict[str, str], tool: str, calls: int, data: st.DataObject
) -> None:
    call = PromptCall(call_id="0.0", server="s", tool=tool, args=args)
    current = data.draw(st.integers(0, calls - 1))
    prompt = a_prompt({}, queue=(call,) * calls, current=current)
    card = card_of(prompt)

    assert measure(card.body) <= LIMIT
    assert Prompt.from_json(prompt.to_json()) == prompt
    if card.hidden == 0:
        whole = "".join(text_of(card).split())
        assert all("".join(value.split()) in whole for value in args.values() if value.isprintable())
    reminded = reminder(prompt, kept=3, measure=measure, limit=LIMIT)
    assert measure(reminded) <= LIMIT


@pytest.mark.req("APR-2")
def test_more_arguments_than_fit_are_counted_as_hidden() -> None:
    card = card_of(a_prompt({f"argument {number}": "x" * 100 for number in range(500)}))

    assert measure(card.body) <= LIMIT
    assert "argument 0: " in text_of(card)
    assert "more arguments." in text_of(card)
    assert card.hidden > 0


@pytest.mark.req("APR-1")
@pytest.mark.parametrize("current", [0, 5, 13, 29])
def test_a_long_queue_always_shows_the_call_in_question(current: int) -> None:
    calls = tuple(PromptCall(call_id=f"0.{n}", server="s", tool=f"t{n}", args={}) for n in range(30))
    text = text_of(card_of(Prompt(queue=calls, current=current, asked="Ann")))

    assert f"▶ s/t{current}" in text
    assert f"({current + 1} of 30)" in text
    listed = [line for line in text.splitlines() if any(mark in line for mark in ("✔", "▶", "…"))]
    assert len(listed) <= 12


@pytest.mark.req("APR-7")
@pytest.mark.parametrize(
    ("state", "title"),
    [
        ("approved", "✅ Approved by Bob at 07:05 UTC · done"),
        ("denied", "❌ Denied by Bob at 07:05 UTC"),
        ("expired", "⌛ Expired at 07:05 UTC: nobody answered, so it was not run"),
        ("closed", "⏹ Closed at 07:05 UTC: not run"),
    ],
)
def test_a_settled_card_says_what_was_decided_by_whom_and_when(state: Any, title: str) -> None:
    at = datetime(2026, 1, 1, 7, 5, tzinfo=UTC)
    card = settled_card(a_prompt({}), state, by="Bob", at=at, progress="done", measure=measure, limit=LIMIT)

    assert text_of(card).splitlines()[0] == title


def test_the_whole_call_keeps_every_argument() -> None:
    args = {"command": "x" * 10_000, "flag": True, "list": [1, {"a": None}]}
    body: Document = whole_call(a_prompt(args))

    assert "x" * 10_000 in plain(body)
    assert '"flag": true' in plain(body)
