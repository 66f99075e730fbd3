"""Tool names for models: valid, unique, the same tomorrow."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.names import model_name, model_names

pytestmark = pytest.mark.req("TOL-2")

CASES = json.loads((Path(__file__).parents[2] / "cases" / "mcp_names.json").read_text("utf-8"))
VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")

words = st.text(alphabet=st.sampled_from("ab_-./ éデ"), max_size=50)
servers = st.lists(st.tuples(words, words), max_size=12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shared_cases(case):
    tools = [(server, tool) for server, names in case["servers"].items() for tool in names]
    named = model_names(tools)
    assert sorted(named.values()) == sorted(tools)
    assert all(VALID.fullmatch(name) for name in named)
    shuffled = random.sample(tools, len(tools))
    assert model_names(shuffled) == named


def test_a_plain_name_is_the_server_and_the_tool():
    assert model_name("time", "get_current_time") == "time__get_current_time"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a__b", "c"), ("a", "b__c")),
        (("a_", "b"), ("a", "_b")),
        (("a.b", "c"), ("a/b", "c")),
        (("größe", "x"), ("gröse", "x")),
        (("s", "t" * 100), ("s", "t" * 101)),
    ],
)
def test_two_readings_of_one_name_get_two_names(one, other):
    assert model_name(*one) != model_name(*other)


@given(servers)
def test_every_tool_has_a_valid_name_of_its_own(tools):
    named = model_names(tools)
    assert set(named.values()) == set(tools)
    assert all(VALID.fullmatch(name) for name in named)


@given(servers, servers)
def test_a_name_does_not_depend_on_what_else_there_is(tools, more):
    together = {pair: name for name, pair in model_names([*tools, *more]).items()}
    assert all(together[pair] == name for name, pair in model_names(tools).items())
