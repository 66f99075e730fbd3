"""The simulated Slack as the real slack-bolt sees it: Socket Mode."""

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.unit.simulators.slack.apps import Taken, bolt, make_client

pytestmark = pytest.mark.req("ADP-10")


async def test_an_app_hears_a_person_answers_and_hears_its_own_echo(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    ada = sim.add_user(name="Ada")
    async with bolt(sim, taken) as app:
        sim.say(ada, "hello <you> & me")
        await sim.wait_for_acks()
        event = taken[0]["event"]
        assert (event["text"], event["channel_type"]) == ("hello &lt;you&gt; &amp; me", "im")
        await app.client.chat_postMessage(channel=event["channel"], text="*hi* &lt;there&gt;")
        await sim.wait_for(lambda: len(taken) == 2)
    assert [message.shown for message in sim.replies(ada)] == ["hi <there>"]
    assert taken[1]["event"]["bot_id"] == sim.account.user.bot_id
    assert (sim.refusals, sim.violations, sim.pings) == ({}, {}, {})


@pytest.mark.parametrize("order", [("message", "app_mention"), ("app_mention", "message"), ("app_mention",)])
async def test_a_mention_comes_as_twins_in_either_order(slack_sim, order):
    sim = slack_sim
    taken = Taken(sim)
    general = sim.add_channel("general", [sim.add_user(name="Ada")])
    sim.account.twins = order
    async with bolt(sim, taken):
        message = sim.mention(general, "what time is it")
        await sim.wait_for_acks()
    assert [body["event"]["type"] for body in taken] == list(order)
    assert {body["event"]["ts"] for body in taken} == {message.ts}
    assert set(taken.texts()) == {f"<@{sim.bot_id}> what time is it"}


async def test_what_is_not_acknowledged_in_time_comes_again_and_says_so(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    ada = sim.add_user(name="Ada")
    taken.refuse = 1
    frames = []
    async with bolt(sim, taken):
        (socket,) = sim.sockets.of(sim.account)
        send = socket.send
        socket.send = lambda frame: (frames.append(frame), send(frame))
        sim.say(ada, "hello")
        await sim.wait_for(lambda: len(taken) == 1)
        assert sim.deliveries.expire() == 1
        await sim.wait_for_acks()
    assert [(frame["retry_attempt"], frame["retry_reason"]) for frame in frames] == [(0, ""), (1, "timeout")]
    assert taken.texts() == ["hello", "hello"]
    assert (sim.deliveries.acknowledged, sim.deliveries.repeated) == (1, 1)


async def test_the_last_of_four_tries_is_given_up(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    sim.deliveries.ack_timeout_s, sim.deliveries.retry_delays_s = 0.01, (0, 0.01, 0.01)
    taken.refuse = 10
    async with bolt(sim, taken):
        sim.say(sim.add_user(), "hello")
        await sim.wait_for(lambda: sim.deliveries.given_up == 1)
    assert len(taken) == 4


async def test_what_finds_no_socket_waits_for_one(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    sim.say(sim.add_user(), "anyone there?")
    async with bolt(sim, taken):
        await sim.wait_for_acks()
    assert taken.texts() == ["anyone there?"]


async def test_a_cut_socket_loses_nothing(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    taken.refuse = 1
    async with bolt(sim, taken):
        sim.say(sim.add_user(), "hello")
        await sim.wait_for(lambda: len(taken) == 1)
        sim.cut_sockets()
        await sim.wait_for_sockets(0)
    async with bolt(sim, taken):
        await sim.wait_for_acks()
    assert taken.texts() == ["hello", "hello"]


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_disconnect_frame_makes_the_client_open_another_socket(slack_sim, reason):
    sim = slack_sim
    taken = Taken(sim)
    async with bolt(sim, taken):
        sim.disconnect(reason)
        await sim.wait_for(lambda: sim.sockets.opened == 2)
        sim.say(sim.add_user(), "still there?")
        await sim.wait_for_acks()
    assert taken.texts() == ["still there?"]


async def test_several_sockets_share_the_events(slack_sim):
    sim = slack_sim
    one, two = Taken(sim), Taken(sim)
    ada = sim.add_user()
    async with bolt(sim, one), bolt(sim, two):
        for number in range(10):
            sim.say(ada, f"number {number}")
        await sim.wait_for_acks()
    assert (len(one), len(two)) == (5, 5)


async def test_a_ticket_opens_one_socket_only(slack_sim):
    client = make_client(slack_sim)
    opened = await client.apps_connections_open(app_token=slack_sim.app_token)
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(opened["url"]) as socket:
            assert (await socket.receive_json())["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(opened["url"])


async def test_a_bot_token_opens_no_socket(slack_sim):
    with pytest.raises(SlackApiError, match="not_allowed_token_type"):
        await make_client(slack_sim).apps_connections_open(app_token=slack_sim.token)


async def test_presses_and_commands_come_once_with_trigger_and_response_url(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    ada = sim.add_user(name="Ada")
    async with bolt(sim, taken) as app:
        button = {
            "type": "button",
            "action_id": "a",
            "value": "pl1:x",
            "text": {"type": "plain_text", "text": "Go"},
        }
        await app.client.chat_postMessage(
            channel=ada.id, text="May I?", blocks=[{"type": "actions", "elements": [button]}]
        )
        press = sim.press(sim.replies(ada)[0], "Go")
        command = sim.command(ada, "status")
        await sim.wait_for_acks()
    pressed, entered = taken[1], taken[2]
    assert (pressed["type"], pressed["trigger_id"]) == ("block_actions", press.trigger_id)
    assert (pressed["actions"][0]["value"], pressed["user"]["id"]) == ("pl1:x", ada.id)
    assert (entered["command"], entered["text"]) == ("/parley", "status")
    assert entered["trigger_id"] == command.trigger_id


async def test_changes_and_deletions_carry_both_states(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    async with bolt(sim, taken):
        message = sim.say(sim.add_user(), "first")
        sim.edit(message, "second")
        sim.unfurl(message)
        sim.delete(message)
        await sim.wait_for_acks()
    events = [body["event"] for body in taken[1:]]
    kinds = ["message_changed", "message_changed", "message_deleted"]
    assert [event["subtype"] for event in events] == kinds
    assert (events[0]["previous_message"]["text"], events[0]["message"]["text"]) == ("first", "second")
    assert events[0]["message"]["edited"]["ts"] == events[1]["message"]["edited"]["ts"] == message.edited_ts
    assert events[2]["deleted_ts"] == message.ts


async def test_the_same_can_be_done_over_http(slack_sim):
    sim = slack_sim
    taken = Taken(sim)
    async with bolt(sim, taken), aiohttp.ClientSession() as session:

        async def do(action, **arguments):
            async with session.post(f"{sim.url}/sim/{action}", json=arguments) as answer:
                body = await answer.json()
                assert body["ok"], body
                return body["result"]

        await do("user", user="U1", name="Ada")
        await do("channel", name="general", members=["U1"], channel="C1")
        await do("mention", channel="C1", text="hello")
        await sim.wait_for_acks()
        counters = await do("counters")
        assert (counters["acknowledged"], counters["sockets"]) == (2, 1)
        await make_client(sim).chat_postMessage(channel="C1", text="hi")
        (reply,) = await do("wait", channel="C1", replies=1)
    assert (reply["shown"], reply["is_bot"]) == ("hi", True)
