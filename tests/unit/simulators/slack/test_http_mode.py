"""The simulated Slack as the real slack-bolt sees it: signed requests over HTTP."""

from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from tests.simulators.server import LoopbackServer
from tests.simulators.server import make_app as make_web_app
from tests.unit.simulators.slack.apps import Taken, make_app

pytestmark = pytest.mark.req("ADP-10")


@asynccontextmanager
async def served(sim, take):
    """An app at an address of its own, entered in the simulator; yields the way to it."""
    app = make_app(sim, take)

    async def events(request):
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    server = await LoopbackServer(make_web_app([web.post("/slack/events", events)])).start()
    try:
        yield await sim.use_http(server.url + "/slack/events")
    finally:
        await server.stop()


async def test_events_presses_and_commands_come_signed(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    ada = sim.add_user(name="Ada")
    async with served(sim, taken):
        sim.say(ada, "hello")
        await sim.wait_for_acks()
        sim.command(ada, "status")
        await sim.wait_for_acks()
    assert taken[0]["event"]["text"] == "hello"
    assert (taken[1]["command"], taken[1]["text"]) == ("/parley", "status")
    assert (sim.refusals, sim.violations) == ({}, {})


async def test_a_refused_event_comes_again_at_once(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    taken.refuse = 1
    async with served(sim, taken):
        sim.say(sim.add_user(), "hello")
        await sim.wait_for_acks()
    assert taken.texts() == ["hello", "hello"]


async def test_a_wrong_signature_is_refused_by_the_library(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    async with served(sim, taken) as webhook:
        status, _ = await webhook.post('{"type": "event_callback"}', "application/json", {}, secret="0" * 32)
    assert (status, taken) == (401, [])


async def test_an_address_that_does_not_answer_the_challenge_is_not_taken(slack_sim):
    with pytest.raises(ValueError, match="404"):
        await slack_sim.use_http(slack_sim.url + "/nothing")
