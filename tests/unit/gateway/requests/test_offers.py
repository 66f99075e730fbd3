"""What the second card offers, and that a prefix is of a place and never of everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.requests.cards import Prompt, PromptCall
from gateway.requests.grants import Condition, Pattern
from gateway.requests.offers import LONGEST_LABEL, Held, always_offers, prefix_of, terms_of

pytestmark = pytest.mark.req("APR-2", "APR-3")

SCALARS = st.one_of(st.text(max_size=90), st.integers(), st.booleans(), st.floats(allow_nan=False))


def prompt(**args: object) -> Prompt:
    call = PromptCall(call_id="0.0", server="lab", tool="count", args=args)
    return Prompt(queue=(call,), current=0, asked="Ann")


@pytest.mark.parametrize(
    ("value", "prefix"),
    [
        ("/srv/docs/a.txt", "/srv/docs/"),
        ("/srv/docs/", "/srv/docs/"),
        ("~/notes/today", "~/notes/"),
        ("./src/a.py", "./src/"),
        ("https://example.test/v1/users?id=3", "https://example.test/v1/"),
        ("https://example.test/", "https://example.test/"),
        ("/srv", None),
        ("~/x", None),
        ("https://example.test", None),
        ("https://user@example.test/x", None),
        ("/srv/../etc/passwd", None),
        ("/srv/a; rm -r /srv/b", None),
        ("ls /srv/a", None),
        ("docs/a.txt", None),
        ("", None),
        (7, None),
    ],
)
def test_a_prefix_is_the_folder_of_a_path_or_the_place_of_an_address(
    value: object, prefix: str | None
) -> None:
    assert prefix_of(value) == prefix


@pytest.mark.parametrize(
    "value",
    ["/srv/../x", "/srv/%2e%2e/x", "/srv/%252e%252e/x", "/srv/.\t./x", "/srv/a\\..\\..\\x", "/srv/\n"],
)
def test_a_prefix_covers_nothing_that_climbs_out_of_it_however_it_is_written(value: str) -> None:
    condition = Condition(arg="path", op="prefix", values=("/srv/",))
    assert condition.holds({"path": "/srv/a-b/c..d"})
    assert not condition.holds({"path": value})


@given(st.dictionaries(st.text(max_size=70), SCALARS, max_size=4), st.lists(SCALARS, max_size=3))
def test_whatever_is_offered_fits_its_button_and_covers_the_call_it_was_offered_for(
    args: dict[str, object], before: list[str | int | bool | float]
) -> None:
    held = [
        Held(id=n, pattern=Pattern(conditions=(Condition(arg=name, op="equals", values=(value,)),)))
        for n, (name, value) in enumerate(zip(args, before, strict=False))
    ]
    rows = always_offers(prompt(**args), held)
    assert len(rows) <= 5
    for offer in (offer for row in rows for offer in row):
        assert len(offer.label) <= LONGEST_LABEL
        if offer.choice.startswith("always/"):
            terms = terms_of(offer.choice, prompt(**args), "hash", held)
            assert terms is not None
            assert terms.pattern.covers(args, "hash")
            assert terms.scope == "user"
