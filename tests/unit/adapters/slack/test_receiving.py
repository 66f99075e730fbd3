"""What comes in over the socket, where it is more than the contract asks."""

import asyncio

import pytest
import structlog.testing

from gateway.errors import AccessRefused, ConnectionLost, StoreUnavailable
from gateway.messages import Button, PressAnswer
from tests.contract.stages.base import Running
from tests.simulators.faults import Hold
from tests.unit.adapters.slack.conftest import make, to

pytestmark = pytest.mark.req("ADP-4")


@pytest.fixture
def card():
    return ((Button(label="Once", token="pl1:once"), Button(label="Deny", token="pl1:deny")),)


@pytest.mark.req("DLV-1")
async def test_nothing_is_acknowledged_before_it_is_stored(sim, ada, running, inbox):
    acknowledged = []
    receive = inbox.receive

    async def noting(*updates):
        acknowledged.append(sim.deliveries.acknowledged)
        return await receive(*updates)

    inbox.receive = noting
    sim.say(ada, "hello")
    await sim.wait_for_acks()
    assert (acknowledged, sim.deliveries.acknowledged) == ([0], 1)


@pytest.mark.req("DLV-1")
async def test_a_redelivered_event_has_the_same_id(sim, ada, running, inbox):
    sim.say(ada, "hello")
    await sim.wait_for_acks()
    sim.world.announce(sim.messages(ada)[0])  # under another envelope and event id
    await inbox.wait_received(2)
    assert inbox.received[0] == inbox.received[1]


@pytest.mark.parametrize("order", [("message", "app_mention"), ("app_mention", "message"), ("app_mention",)])
async def test_twins_are_one_update_twice_in_either_order(sim, general, running, inbox, order):
    sim.account.twins = order
    sim.mention(general, "what time is it")
    await sim.wait_for_acks()
    assert len(inbox.received) == len(order)
    assert len(set(inbox.received)) == 1


async def test_nine_thousand_characters_come_whole(sim, ada, running, inbox):
    text = "\n".join(f"line {number} " + "x" * 37 for number in range(201))[:9_000]
    sim.say(ada, text)
    message = await inbox.wait_message(text)
    assert message.text.count("\n") == text.count("\n")


async def test_people_and_channels_have_names_and_each_is_asked_for_once(sim, ada, general, running, inbox):
    for number in range(5):
        sim.say(general, f"number {number}")
    await inbox.wait_received(5)
    sources = {message.source for message in inbox.messages}
    assert {(source.user_name, source.chat_name) for source in sources} == {("Ada", "general")}
    assert (len(sim.calls("users.info")), len(sim.calls("conversations.info"))) == (1, 1)


async def test_a_name_that_takes_too_long_is_left_out_and_order_is_kept(sim, general, inbox):
    running = Running(make(sim, lookup_timeout_s=0.1), inbox)
    await running.start()
    bob = sim.add_user(name="Bob")
    sim.say(general, "from Ada")
    await inbox.wait_message("from Ada")
    sim.fail(Hold(), "users.info")
    sim.say(general, "from Bob", user=bob)
    sim.say(general, "from Ada again")
    await inbox.wait_received(3)
    await running.stop()
    assert [(one.text, one.source.user_name) for one in inbox.messages[1:]] == [
        ("from Bob", ""),
        ("from Ada again", "Ada"),
    ]


async def test_without_the_scope_for_names_everything_goes_on(sim, ada, inbox):
    sim.account.scopes -= {"users:read"}
    running = Running(make(sim), inbox)
    with structlog.testing.capture_logs() as logs:
        await running.start()
        for text in ("one", "two"):
            sim.say(ada, text)
        await inbox.wait_received(2)
        await running.stop()
    assert [one.source.user_name for one in inbox.messages] == ["", ""]
    warned = [(log["event"], log.get("scopes")) for log in logs if log["log_level"] == "warning"]
    assert ("slack.scopes_missing", ["users:read"]) in warned
    assert len(sim.calls("users.info")) == 1


@pytest.mark.req("ADP-6")
async def test_a_thread_that_a_mention_opened_is_the_bots_own(sim, general, running, inbox):
    root = sim.mention(general, "what time is it")
    sim.say(general, "and in Rome?", thread=root)
    message = await inbox.wait_message("and in Rome?")
    assert message.mentions_bot
    assert message.source.thread_id == root.ts == inbox.messages[0].source.thread_id
    assert sim.calls("conversations.replies") == []


@pytest.mark.req("ADP-6")
async def test_after_a_restart_its_own_threads_are_known_again(sim, general, inbox):
    own, others = sim.mention(general, "what time is it"), sim.say(general, "lunch?")
    running = Running(make(sim), inbox)
    sim.deliveries.open.clear()
    await running.start()
    for root in (own, others):
        for text in ("one", "two"):
            sim.say(general, text, thread=root)
    await inbox.wait_received(4)
    await running.stop()
    assert [message.mentions_bot for message in inbox.messages] == [True, True, False, False]
    assert len(sim.calls("conversations.replies")) == 2


@pytest.mark.req("ADP-6")
async def test_while_slack_does_not_say_whose_thread_it_is_the_message_comes_again(
    sim, general, running, inbox
):
    root = sim.mention(general, "earlier")
    await sim.wait_for_acks()
    await running.stop()
    await running.start()
    sim.flood(method="conversations.replies")
    sim.say(general, "still there?", thread=root)
    await sim.wait_for(lambda: sim.calls("conversations.replies"))
    await sim.wait_for(lambda: sim.calls("conversations.replies")[0].status)
    assert len(sim.deliveries.open) == 1
    sim.deliveries.expire()
    assert (await inbox.wait_message("still there?")).mentions_bot


async def test_its_own_messages_are_not_heard(sim, ada, running, inbox):
    await running.adapter.send(to(sim, ada, "hello"))
    await running.adapter.edit(sim.replies(ada)[0].ts, to(sim, ada, "hello again"))
    sim.say(ada, "hi")
    await sim.wait_for_acks()
    assert [message.text for message in inbox.messages] == ["hi"]


async def test_two_apps_in_a_channel_each_hear_their_own_mentions(sim, ada, inbox):
    other = sim.add_bot("Other", "other")
    shared = sim.add_channel("shared", [ada])
    both = [Running(make(sim), inbox)]
    second_inbox = type(inbox)()
    both.append(Running(make(sim, bot_token=other.token, app_token=other.app_token), second_inbox))
    for running in both:
        await running.start()
    sim.say(shared, "you", raw=f"<@{other.user.id}> ")
    await inbox.wait_received(1)
    await second_inbox.wait_received(1)
    for running in both:
        await running.stop()
    assert [one.mentions_bot for one in inbox.messages] == [False]
    assert {one.mentions_bot for one in second_inbox.messages} == {True}
    assert second_inbox.messages[0].source.account == other.user.id


async def test_a_slash_command_comes_as_ours(sim, ada, running, inbox):
    sim.command(ada, "status")
    message = await inbox.wait_message("/status")
    assert (message.mentions_bot, message.source.kind) == (True, "dm")


@pytest.mark.req("APR-2")
async def test_where_nothing_can_be_shown_to_one_person_the_presser_is_told_by_the_response_url(
    sim, general, ada, running, inbox, card
):
    inbox.answers["pl1:once"] = PressAnswer(text="Decided <before>.")
    await running.adapter.send(to(sim, general, "may I?", buttons=card))
    stranger = sim.add_user(name="Guest")  # sees the channel, is no member
    press = sim.press(sim.replies(general)[0], "Once", stranger)
    await sim.wait_for(lambda: press.answers)
    assert [one.text for one in sim.ephemerals(general, stranger)] == ["Decided <before>."]


async def test_a_deletion_and_an_edit_in_a_channel_are_told(sim, general, running, inbox):
    said = sim.mention(general, "first")
    sim.edit(said, "second", raw=f"<@{sim.bot_id}> ")
    sim.unfurl(said)
    sim.delete(said)
    await sim.wait_for_acks()
    kinds = [type(update).__name__ for update in inbox.received]
    assert kinds == ["InboundMessage", "InboundMessage", "MessageEdited", "MessageDeleted"]
    assert {update.message_id for update in inbox.received} == {said.ts}
    assert {update.source for update in inbox.received} == {inbox.received[0].source}


async def test_what_is_unreadable_is_acknowledged_and_logged(sim, ada, running, inbox):
    with structlog.testing.capture_logs() as logs:
        sim.world.send_event(sim.account, {"type": "message", "channel": 7})
        sim.world.send_event(sim.account, {"type": "message", "channel": "C1", "text": "x"})
        sim.say(ada, "hello")
        await sim.wait_for_acks()
    assert [one.text for one in inbox.messages] == ["hello"]
    assert [log["event"] for log in logs if log["log_level"] == "warning"] == ["slack.update_unreadable"] * 2


@pytest.mark.req("OPS-5")
@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_socket_that_will_close_has_a_successor_first(sim, ada, running, inbox, reason):
    sim.disconnect(reason)
    await sim.wait_for_sockets(2)
    sim.say(ada, "one")
    await inbox.wait_message("one")
    sim.close_leaving()
    await sim.wait_for_sockets(1)
    sim.say(ada, "two")
    await inbox.wait_message("two")
    assert (inbox.times_online, sim.deliveries.repeated, sim.violations) == (1, 0, {})


@pytest.mark.req("OPS-5")
async def test_what_an_old_socket_brings_meanwhile_is_taken_once(sim, ada, running, inbox):
    sim.fail(Hold(), "apps.connections.open")
    sim.disconnect()
    await sim.wait_for(lambda: len(sim.calls("apps.connections.open")) == 2)
    sim.say(ada, "in between")
    sim.faults.release()
    await inbox.wait_message("in between")
    await sim.wait_for_acks()
    assert (len(inbox.received), sim.deliveries.repeated) == (1, 0)


@pytest.mark.req("OPS-5")
async def test_a_socket_closed_without_a_word_is_a_lost_connection(sim, running):
    sim.sockets.of(sim.account)[0].close()
    with pytest.raises(ConnectionLost, match="closed the socket"):
        await running.ended()


@pytest.mark.req("OPS-5")
async def test_a_socket_that_says_nothing_any_more_is_noticed(sim, inbox):
    sim.sockets.answers_pings = False
    running = Running(make(sim, ping_interval_s=1), inbox)
    await running.start()
    with pytest.raises(ConnectionLost):
        await running.ended()


@pytest.mark.req("OPS-5")
async def test_no_successor_is_a_lost_connection_that_names_no_ticket(sim, running):
    sim.refuse("internal_error", "apps.connections.open")
    sim.disconnect()
    with pytest.raises(ConnectionLost) as caught:
        await running.ended()
    assert "ticket" not in str(caught.value)


async def test_socket_mode_switched_off_is_for_a_person_to_mend(sim, running):
    sim.disconnect("link_disabled")
    with pytest.raises(AccessRefused, match="Socket Mode is switched off"):
        await running.ended()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"app_token": None}, "slack.app_token is missing"),
        ({"app_token": "xapp-wrong"}, "refuses the token \\(invalid_auth\\)"),
        ({"mode": "http"}, "slack.signing_secret is missing"),
        ({"bot_token": "xoxb-wrong"}, "refuses the token \\(invalid_auth\\)"),
    ],
)
async def test_what_is_missing_or_wrong_is_named(sim, inbox, settings, told):
    with pytest.raises(AccessRefused, match=told):
        await Running(make(sim, **settings), inbox).start()


async def test_an_app_that_may_not_write_is_refused_with_the_scope(sim, inbox):
    sim.account.scopes -= {"chat:write"}
    with pytest.raises(AccessRefused, match="chat:write"):
        await Running(make(sim), inbox).start()


async def test_an_unreachable_slack_is_a_lost_connection(sim, inbox):
    with pytest.raises(ConnectionLost, match="cannot reach Slack"):
        await Running(make(sim, api_base="http://127.0.0.1:1/api"), inbox).start()


@pytest.mark.req("DLV-1")
async def test_a_full_disk_ends_the_run_and_leaves_everything_unacknowledged(sim, ada, running, inbox):
    inbox.refusals.append(StoreUnavailable("the disk is full"))
    texts = [f"number {number}" for number in range(10)]
    for text in texts:
        sim.say(ada, text)
    with pytest.raises(StoreUnavailable):
        await running.ended()
    await running.start()
    await inbox.wait_received(10)
    assert [message.text for message in inbox.messages] == texts


async def test_no_task_is_left_after_a_run(sim, ada, running, inbox):
    sim.say(ada, "hello")
    await sim.wait_for_acks()
    await running.stop()
    left = [task for task in asyncio.all_tasks() if "adapters/slack" in str(task.get_coro())]
    assert left == []
