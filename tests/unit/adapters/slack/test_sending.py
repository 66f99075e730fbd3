"""What goes out, where it is more than the contract asks."""

import logging

import pytest

from adapters.slack.adapter import EDIT_LIMIT
from gateway.adapter import EditsMessages, LooksUpSent, ShowsTyping
from gateway.document import parse, text_document
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, RateLimited, TargetGone
from gateway.messages import Author, Receipt
from tests.contract.stages.base import Running
from tests.simulators.faults import Drop, Hold, Refuse
from tests.unit.adapters.slack.conftest import make, to

pytestmark = pytest.mark.req("ADP-4")

LOST = pytest.mark.req("DLV-7")


async def test_its_abilities_are_found(sim):
    adapter = make(sim)
    assert isinstance(adapter, EditsMessages)
    assert isinstance(adapter, ShowsTyping)
    assert isinstance(adapter, LooksUpSent)


async def test_an_answer_to_a_mention_goes_into_its_thread(sim, general, running, inbox):
    root = sim.mention(general, "what time is it")
    await inbox.wait_received(1)
    assert inbox.messages[0].source.thread_id == root.ts
    await running.adapter.send(to(sim, general, "noon", thread=root))
    assert [one.shown for one in sim.replies(general, root)] == ["noon"]


async def test_formatting_is_shown_as_such(sim, ada, running):
    await running.adapter.send(to(sim, ada, parse("# Hi\n\na **b** [c](https://d.e)\n\n1. one\n2. two")))
    (reply,) = sim.replies(ada)
    assert reply.shown == "Hi\n\na b c\n1. one\n2. two"
    assert not sim.refusals


async def test_nobody_is_notified_by_what_a_model_says(sim, general, ada, running):
    text = f"<!channel> @here <@{ada.id}> <!subteam^S1> &lt;!everyone&gt;"
    for body in (text_document(text), parse(text)):
        for plain in (False, True):
            await running.adapter.send(to(sim, general, body, plain=plain))
    assert sim.pings == {}
    assert {one.shown for one in sim.replies(general)} >= {text}


async def test_links_are_not_fetched_by_slack(sim, ada, running):
    await running.adapter.send(to(sim, ada, "https://evil.example/?all=secrets"))
    params = sim.calls("chat.postMessage")[0].params
    assert (params["unfurl_links"], params["unfurl_media"]) == (False, False)


@pytest.mark.req("DLV-5")
@pytest.mark.parametrize("character", ["x", "&", "<", "é", "👋"])
async def test_no_edit_up_to_the_limit_is_refused(sim, ada, running, character):
    receipt = await running.adapter.send(to(sim, ada, "…"))
    await running.adapter.edit(receipt.message_id, to(sim, ada, character * EDIT_LIMIT))
    assert sim.replies(ada)[0].shown == character * EDIT_LIMIT
    assert not sim.refusals


async def test_an_edit_is_not_marked_as_one(sim, ada, running):
    receipt = await running.adapter.send(to(sim, ada, "one"))
    await running.adapter.edit(receipt.message_id, to(sim, ada, "two"))
    assert (sim.replies(ada)[0].texts(), sim.replies(ada)[0].edited_ts) == (["one", "two"], None)


async def test_a_message_that_is_gone_cannot_be_edited(sim, ada, running):
    receipt = await running.adapter.send(to(sim, ada, "one"))
    sim.delete(sim.replies(ada)[0])
    with pytest.raises(MessageRejected, match="message_not_found") as caught:
        await running.adapter.edit(receipt.message_id, to(sim, ada, "two"))
    assert not caught.value.markup


@LOST
async def test_a_lost_answer_is_found_by_its_key_and_not_sent_again(sim, ada, running):
    message = to(sim, ada, "once only", idem_key="the key")
    sim.lose_answer()
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(message)
    assert await running.adapter.find_sent(message) == Receipt(message_id=sim.replies(ada)[0].ts)
    assert len(sim.calls("chat.postMessage")) == 1
    assert await running.adapter.find_sent(to(sim, ada, "x", idem_key="another")) is None


@LOST
async def test_in_a_thread_it_is_looked_for_there_and_among_many(sim, general, running):
    root = sim.say(general, "root")
    message = to(sim, general, "once only", thread=root, idem_key="the key")
    sim.lose_answer()
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(message)
    for number in range(250):
        sim.say(general, str(number), thread=root)
    assert await running.adapter.find_sent(message) == Receipt(message_id=sim.replies(general)[0].ts)


@LOST
async def test_another_process_finds_it_as_well(sim, ada, running):
    message = to(sim, ada, "once only", idem_key="the key")
    sim.lose_answer()
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(message)
    for number in range(250):
        sim.say(ada, str(number))
    assert await make(sim).find_sent(message) == Receipt(message_id=sim.replies(ada)[0].ts)


@LOST
async def test_what_never_arrived_is_not_found(sim, ada, running):
    message = to(sim, ada, "lost", idem_key="the key")
    sim.fail(Drop())
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(message)
    assert await running.adapter.find_sent(message) is None


@LOST
async def test_without_the_scopes_to_look_nothing_is_promised(sim, ada, inbox):
    assert make(sim).capabilities.idempotency == "lookup"
    sim.account.scopes -= {"im:history"}
    running = Running(make(sim), inbox)
    await running.start()
    assert running.adapter.capabilities.idempotency == "none"
    with pytest.raises(OutcomeUnknown, match="scopes"):
        await running.adapter.find_sent(to(sim, ada, "x"))
    await running.stop()


@LOST
async def test_a_scope_that_is_taken_away_later_is_noticed(sim, ada, running):
    sim.account.scopes -= {"im:history"}
    with pytest.raises(OutcomeUnknown, match="scopes"):
        await running.adapter.find_sent(to(sim, ada, "x"))
    assert running.adapter.capabilities.idempotency == "none"


@LOST
async def test_what_certainly_was_not_sent_is_not_looked_for(sim, ada, running):
    message = to(sim, ada, "x")
    for fault in (Refuse(status=429), Refuse(status=200, text="token_revoked")):
        sim.fail(fault)
        with pytest.raises((RateLimited, NotSent)):
            await running.adapter.send(message)
        assert await running.adapter.find_sent(message) is None
    assert sim.calls("conversations.history") == []
    sim.lose_answer()
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(message)
    sim.flood()
    with pytest.raises(RateLimited):
        await running.adapter.send(message)
    assert await running.adapter.find_sent(message) is not None


@LOST
async def test_a_look_up_that_fails_does_not_say_that_nothing_was_sent(sim, ada, running):
    sim.fail(Refuse(status=503), "conversations.history")
    with pytest.raises(OutcomeUnknown):
        await running.adapter.find_sent(to(sim, ada, "x"))
    sim.flood(method="conversations.history", retry_after_s=9)
    with pytest.raises(RateLimited) as caught:
        await running.adapter.find_sent(to(sim, ada, "x"))
    assert caught.value.retry_after_s == 9


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Refuse(status=200, text="channel_not_found"), TargetGone),
        (Refuse(status=200, text="not_in_channel"), TargetGone),
        (Refuse(status=200, text="user_disabled"), TargetGone),
        (Refuse(status=200, text="token_revoked"), NotSent),
        (Refuse(status=200, text="missing_scope", parameters={"needed": "chat:write"}), NotSent),
        (Refuse(status=200, text="internal_error"), OutcomeUnknown),
        (Refuse(status=503), OutcomeUnknown),
        (Refuse(status=429, retry_after_s=3), RateLimited),
        (Refuse(status=200, text="msg_too_long"), MessageRejected),
        (Refuse(status=200, text="invalid_blocks"), MessageRejected),
        (Drop(), OutcomeUnknown),
    ],
)
async def test_refusals_are_told_apart(sim, ada, running, fault, error):
    sim.fail(fault)
    with pytest.raises(error) as caught:
        await running.adapter.send(to(sim, ada, "x"))
    assert getattr(caught.value, "markup", None) in {None, getattr(fault, "text", "") == "invalid_blocks"}
    assert sim.replies(ada) == []
    assert len(sim.calls("chat.postMessage")) == 1


async def test_a_late_answer_is_an_unknown_outcome(sim, ada, inbox):
    running = Running(make(sim, send_timeout_s=1), inbox)
    await running.start()
    sim.fail(Hold(applied=True))
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(to(sim, ada, "x"))
    sim.faults.release()
    await running.stop()


async def test_without_a_connection_nothing_was_sent(sim, ada):
    adapter = make(sim, api_base="http://127.0.0.1:1/api")
    with pytest.raises(NotSent, match="no connection"):
        await adapter.send(to(sim, ada, "x"))


@pytest.mark.req("DLV-9")
async def test_a_status_is_shown_in_threads_only(sim, general, ada, running):
    root = sim.say(general, "root")
    await running.adapter.show_typing(to(sim, general, "", thread=root).target)
    await running.adapter.show_typing(to(sim, ada, "").target)
    assert sim.channel(general).statuses == [(root.ts, "is thinking…")]
    assert sim.channel(ada).statuses == []


@pytest.mark.req("DLV-9")
async def test_a_status_stays_until_something_is_said(sim, general, running):
    root = sim.say(general, "root")
    target = to(sim, general, "", thread=root).target
    for _ in range(3):
        await running.adapter.show_typing(target)
    await running.adapter.send(to(sim, general, "a part", thread=root))
    await running.adapter.show_typing(target)
    assert len(sim.channel(general).statuses) == 2


@pytest.mark.req("DLV-9")
async def test_a_status_that_is_not_allowed_is_asked_for_once(sim, general, running):
    sim.account.scopes -= {"assistant:write"}
    for _ in range(3):
        root = sim.say(general, "root")
        await running.adapter.show_typing(to(sim, general, "", thread=root).target)
    assert len(sim.calls("assistant.threads.setStatus")) == 1


@pytest.mark.req("AGT-3")
async def test_the_answerers_name_and_picture_are_shown_where_the_scope_allows_it(sim, ada, inbox):
    sim.account.scopes |= {"chat:write.customize"}
    running = Running(make(sim), inbox)
    await running.start()
    assert running.adapter.capabilities.shows_authors
    for avatar in ("https://example.org/owl.png", ":owl:", None):
        await running.adapter.send(to(sim, ada, "hoo", author=Author(name="Owl", avatar=avatar)))
    await running.stop()
    shown = [(one.shown_name, one.shown_icon) for one in sim.replies(ada)]
    assert shown == [("Owl", "https://example.org/owl.png"), ("Owl", ":owl:"), ("Owl", None)]


@pytest.mark.req("AGT-3")
async def test_without_the_scope_no_author_is_asked_for(running):
    assert not running.adapter.capabilities.shows_authors


@pytest.mark.req("ACC-4")
async def test_no_log_line_holds_a_token(sim, ada, inbox, caplog):
    # As `client` leaves it; a test before may have set up logging anew. What is logged then, the redactor hides.
    logging.getLogger("adapters.slack.sdk").setLevel(logging.WARNING)
    with caplog.at_level(logging.DEBUG):
        running = Running(make(sim), inbox)
        await running.start()
        sim.say(ada, "hello")
        await inbox.wait_received(1)
        await running.adapter.send(to(sim, ada, "hi"))
        sim.refuse("internal_error")
        with pytest.raises(OutcomeUnknown):
            await running.adapter.send(to(sim, ada, "hi"))
        await running.stop()
    for secret in (sim.token, sim.app_token, sim.account.signing_secret, "ticket="):
        assert secret not in caplog.text
