"""Every scenario of the kinds that platforms share is shown by some test, but for those named here."""

import pytest

from tests.cases.scenarios import scenarios, shown

OPEN = {
    "C58a": "the web console is not built",
    "C120a": "the web console is not built",
    "C120b": "the web console is not built",
}
"""Those that may be without a test, with why."""


@pytest.mark.req("ADP-10")
def test_each_scenario_has_a_test_or_a_reason():
    tests = shown()
    named = [scenario for scenario, _ in scenarios()]
    assert len(named) == len(set(named)) == 46
    assert {scenario for scenario in named if scenario not in tests} <= OPEN.keys()
