"""Which calls run without asking, from configuration and a tool's own default."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.requests.policy import ApprovalPolicy

GLOBS = st.lists(st.sampled_from(["*", "shell/*", "shell/run", "*/run", "web/get", "[!s]*/*"]), max_size=3)
VERDICTS = st.sampled_from(["allow", "ask", "deny"])


@pytest.mark.req("APR-3")
@pytest.mark.parametrize(
    ("policy", "own", "verdict"),
    [
        ({}, "ask", "ask"),
        ({}, "allow", "allow"),
        ({}, "deny", "deny"),
        ({"default": "allow"}, "ask", "allow"),
        ({"default": "deny"}, "ask", "deny"),
        ({"default": "deny"}, "allow", "allow"),  # a built-in tool that asks for nothing
        ({"allow": ("shell/*",)}, "ask", "allow"),
        ({"allow": ("web/*",)}, "ask", "ask"),
        ({"allow": ("*",), "deny": ("shell/run",)}, "allow", "deny"),
        ({"allow": ("SHELL/run",)}, "ask", "ask"),  # names are exact, case included
    ],
)
def test_deny_beats_allow_beats_the_tools_own_default(policy: Any, own: str, verdict: str) -> None:
    assert ApprovalPolicy(**policy).verdict("shell/run", own) == verdict


@pytest.mark.req("APR-3")
@given(allow=GLOBS, deny=GLOBS, default=VERDICTS, own=VERDICTS, more=st.sampled_from(["*", "shell/run"]))
def test_a_further_deny_never_loosens_and_a_further_allow_never_tightens(
    allow: list[str], deny: list[str], default: Any, own: str, more: str
) -> None:
    strictness = ["allow", "ask", "deny"].index
    given = ApprovalPolicy(default=default, allow=tuple(allow), deny=tuple(deny))
    stricter = ApprovalPolicy(default=default, allow=tuple(allow), deny=(*deny, more))
    looser = ApprovalPolicy(default=default, allow=(*allow, more), deny=tuple(deny))

    verdict = strictness(given.verdict("shell/run", own))
    assert strictness(stricter.verdict("shell/run", own)) >= verdict
    assert strictness(looser.verdict("shell/run", own)) <= verdict
