"""Whatever a model service does wrong, a turn ends visibly and leaves a history that service takes again."""

import pytest

from tests.soak import WINDOW, soak

pytestmark = pytest.mark.req("AGT-7", "AGT-8", "CTX-1")


@pytest.mark.parametrize(("wire", "turns"), [("openai", 25), ("anthropic", 12)])
async def test_every_turn_ends_visibly_and_no_history_is_refused(wire, turns, tmp_path):
    """`make soak` is this with a thousand turns."""
    found = await soak(turns, seed=20261130, wire=wire, folder=tmp_path)
    assert sum(found.outcomes.values()) == turns
    assert found.tool_runs
    assert found.largest < WINDOW
