"""What the doctor hears of a Slack app, asked of the simulator through the real library."""

from pathlib import Path

import pytest

from adapters.slack.scopes import WANTED
from gateway.adapter import Checkup
from tests.simulators.slack import SlackSimulator
from tests.unit.adapters.slack.conftest import make

pytestmark = pytest.mark.req("OPS-7", "ADP-4")


async def check(sim: SlackSimulator, **settings: object) -> Checkup:
    return await make(sim, **settings).check()


def states(checkup: Checkup) -> dict[str, str]:
    return {finding.name: finding.state for finding in checkup.findings}


async def test_an_app_with_its_scopes_and_a_socket_has_nothing_to_mend(sim: SlackSimulator):
    sim.account.scopes |= {"groups:read", "im:read"}
    checkup = await check(sim)
    assert states(checkup) == {"bot token": "ok", "scopes": "ok", "app token": "ok"}
    assert checkup.server_date


def test_the_readme_lists_the_scopes_that_are_asked_for():
    readme = (Path(__file__).parents[4] / "README.md").read_text("utf-8")
    listed = readme.partition("Bot token scopes: `")[2].partition("`")[0].split()
    assert sorted(listed) == sorted(WANTED)


async def test_missing_scopes_are_named_with_what_does_not_work(sim: SlackSimulator):
    sim.account.scopes = (sim.account.scopes | {"im:read"}) - {"users:read", "chat:write"}
    found = {one.name: one for one in (await check(sim)).findings}
    assert found["scope users:read"].state == "warning"
    assert found["scope users:read"].detail == "missing: people have no names"
    assert found["scope chat:write"].state == "failed"
    assert "install the app again" in found["scope chat:write"].fix
    assert "scopes" not in found


async def test_refused_tokens_fail_each_by_itself_without_being_shown(sim: SlackSimulator):
    checkup = await check(sim, bot_token="xoxb-wrong-one", app_token="xapp-wrong-one")
    assert states(checkup) == {"bot token": "failed", "app token": "failed"}
    assert "wrong-one" not in repr(checkup)


async def test_a_missing_app_token_fails_in_socket_mode_and_a_missing_secret_in_http_mode(
    sim: SlackSimulator,
):
    assert states(await check(sim, app_token=None))["app token"] == "failed"
    assert states(await check(sim, mode="http"))["signing secret"] == "failed"
    assert states(await check(sim, mode="http", signing_secret="s"))["signing secret"] == "ok"


async def test_a_slack_out_of_reach_is_a_finding(sim: SlackSimulator):
    checkup = await check(sim, api_base="http://127.0.0.1:9/api/")
    assert states(checkup) == {"bot token": "failed", "app token": "failed"}
