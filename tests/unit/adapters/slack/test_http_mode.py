"""What comes in by HTTP: signed, stored, and only then answered with 200."""

import json

import pytest
from aiohttp import ClientSession

from gateway.errors import ConnectionLost, StoreUnavailable
from tests.contract.stages.base import Running
from tests.unit.adapters.slack.conftest import make

pytestmark = pytest.mark.req("ADP-4")


@pytest.fixture
async def running(sim, inbox):
    adapter = make(sim, mode="http", http_port=0, app_token=None, signing_secret=sim.account.signing_secret)
    running = Running(adapter, inbox)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def webhook(sim, running):
    return await sim.use_http(f"http://127.0.0.1:{running.adapter.port}/slack/events")


async def test_slacks_challenge_is_answered(webhook):
    assert webhook  # its fixture verified the address


async def test_events_presses_and_commands_come_in(sim, ada, webhook, inbox):
    sim.say(ada, "hello")
    await sim.wait_for_acks()
    sim.command(ada, "status")
    await sim.wait_for_acks()
    assert [message.text for message in inbox.messages] == ["hello", "/status"]
    assert (sim.deliveries.repeated, sim.violations) == (0, {})


@pytest.mark.parametrize("age_s", [0, 600])
async def test_a_request_with_a_wrong_signature_or_an_old_one_changes_nothing(sim, webhook, inbox, age_s):
    body = json.dumps({"type": "event_callback", "team_id": "T1", "event": {"type": "message"}})
    secret = "0" * 32 if not age_s else None
    real = sim.world._now
    sim.world._now = lambda: real() - age_s
    status, _ = await webhook.post(body, "application/json", {}, secret)
    assert (status, inbox.received) == (401, [])


async def test_an_unsigned_request_is_refused(running, inbox):
    async with ClientSession() as session:
        url = f"http://127.0.0.1:{running.adapter.port}/slack/events"
        async with session.post(url, json={"type": "url_verification", "challenge": "x"}) as answer:
            assert (answer.status, "x" in await answer.text()) == (401, False)
        async with session.post(url, data=b"x" * (2 * 1024 * 1024)) as answer:
            assert answer.status == 413
        async with session.get(url) as answer:
            assert answer.status == 405


@pytest.mark.req("DLV-1")
async def test_what_cannot_be_stored_is_answered_with_503(sim, ada, webhook, running, inbox):
    sim.deliveries.retry_delays_s = ()
    inbox.refusals.append(StoreUnavailable("the disk is full"))
    sim.say(ada, "hello")
    with pytest.raises(StoreUnavailable):
        await running.ended()
    await sim.wait_for(lambda: sim.deliveries.given_up == 1)
    assert sim.deliveries.acknowledged == 0


async def test_a_port_that_is_taken_is_named(sim, running, inbox):
    adapter = make(
        sim, mode="http", http_port=running.adapter.port, signing_secret=sim.account.signing_secret
    )
    with pytest.raises(ConnectionLost, match=f"cannot listen on 127.0.0.1:{running.adapter.port}"):
        await Running(adapter, type(inbox)()).start()
