"""Replies that grow by Slack's own streaming, through the real client."""

import pytest

from gateway.document import parse
from gateway.errors import MessageRejected, OutcomeUnknown, RateLimited
from gateway.messages import Author
from tests.contract.stages.base import Running
from tests.simulators.faults import Hold
from tests.unit.adapters.slack.conftest import make, to

pytestmark = pytest.mark.req("DLV-5")


@pytest.fixture
def root(sim, general):
    return sim.say(general, "tell me")


@pytest.fixture
def growing(sim, general, root, ada):
    """A message of the reply, as delivery asks for it while it grows."""

    def message(text: str, **details: object):
        given = {"thread": root, "growing": True, "reader_id": ada.id, "idem_key": ""} | details
        return to(sim, general, parse(text), **given)

    return message


def methods(sim) -> list[str]:
    return [call.method for call in sim.recorder.calls if call.method.startswith("chat.")]


async def test_it_is_begun_added_to_and_at_last_set_right(sim, general, root, running, growing):
    adapter = running.adapter
    receipt = await adapter.send(growing("It **gr", idem_key="k9"))
    (reply,) = sim.replies(general, root)
    assert (reply.shown, reply.is_streaming) == ("It", True)  # what `**gr` will be, nobody knows
    await adapter.edit(receipt.message_id, growing("It **grows** and `co"))
    assert sim.replies(general, root)[0].shown == "It grows and"
    await adapter.edit(receipt.message_id, growing("It **grows** and `code`."))
    assert sim.replies(general, root)[0].shown == "It grows and code."

    last = growing("It **grows** and `code`. Done", growing=False, idem_key="k9")
    for _ in range(2):
        await adapter.edit(receipt.message_id, last)
    (reply,) = sim.replies(general, root)
    assert (reply.shown, reply.is_streaming) == ("It grows and code. Done", False)
    assert [block["type"] for block in reply.blocks] == ["rich_text"]
    assert await adapter.find_sent(last) == receipt
    assert methods(sim) == [
        "chat.startStream",
        "chat.appendStream",
        "chat.appendStream",
        "chat.stopStream",
        "chat.update",
        "chat.update",
    ]


async def test_what_has_to_say_something_else_is_ended_and_grows_on_by_edits(
    sim, general, root, running, growing
):
    receipt = await running.adapter.send(growing("The wrong beginning"))
    for text in ("The right", "The right answer"):
        await running.adapter.edit(receipt.message_id, growing(text))
        assert sim.replies(general, root)[0].shown == text
    assert methods(sim)[1:] == ["chat.stopStream", "chat.update", "chat.update"]


async def test_an_addition_whose_answer_is_lost_is_not_made_twice(sim, general, root, running, growing):
    receipt = await running.adapter.send(growing("one"))
    sim.lose_answer(method="chat.appendStream")
    with pytest.raises(OutcomeUnknown):
        await running.adapter.edit(receipt.message_id, growing("one two"))
    await running.adapter.edit(receipt.message_id, growing("one two three"))
    assert [one.shown for one in sim.replies(general, root)] == ["one two three"]


async def test_an_addition_that_comes_too_soon_is_made_later(sim, general, root, running, growing):
    receipt = await running.adapter.send(growing("one"))
    sim.flood(retry_after_s=3, method="chat.appendStream")
    with pytest.raises(RateLimited):
        await running.adapter.edit(receipt.message_id, growing("one two"))
    await running.adapter.edit(receipt.message_id, growing("one two three"))
    assert sim.replies(general, root)[0].shown == "one two three"
    assert "chat.update" not in methods(sim)


@pytest.mark.parametrize("code", ["feature_not_enabled", "missing_scope"])
async def test_where_slack_refuses_streams_the_message_is_sent_and_edited(
    sim, general, root, running, growing, code
):
    sim.refuse(code, "chat.startStream")
    receipt = await running.adapter.send(growing("one"))
    await running.adapter.edit(receipt.message_id, growing("one two"))
    assert [(one.shown, one.is_streaming) for one in sim.replies(general, root)] == [("one two", False)]
    assert methods(sim) == ["chat.startStream", "chat.postMessage", "chat.update"]


async def test_a_workspace_that_has_no_streams_is_asked_once(sim, general, root, running, growing):
    sim.refuse("feature_not_enabled", "chat.startStream")
    for _ in range(2):
        await running.adapter.send(growing("one"))
    assert methods(sim) == ["chat.startStream", "chat.postMessage", "chat.postMessage"]


async def test_outside_threads_and_for_nobody_in_particular_nothing_is_streamed(
    sim, ada, general, root, running, growing
):
    await running.adapter.send(to(sim, ada, "one", growing=True, reader_id=ada.id))
    await running.adapter.send(growing("one", reader_id=None))
    assert methods(sim) == ["chat.postMessage", "chat.postMessage"]


@pytest.mark.req("DLV-7")
async def test_a_stream_of_an_earlier_process_is_ended_and_then_edited(
    sim, general, root, running, growing, inbox
):
    receipt = await running.adapter.send(growing("Once upon"))
    await running.stop()
    second = Running(make(sim), inbox)
    await second.start()
    await second.adapter.edit(receipt.message_id, growing("Twice", idem_key="k"))
    await second.stop()
    assert [(one.shown, one.is_streaming) for one in sim.replies(general, root)] == [("Twice", False)]


@pytest.mark.req("DLV-7")
async def test_a_beginning_nobody_heard_of_is_found_by_its_words_and_no_other_stream_is_taken_for_it(
    sim, general, root, running, growing, inbox
):
    other = await running.adapter.send(growing("Another reply in this thread"))
    sim.lose_answer(method="chat.startStream")
    lost = growing("Once upon a **ti", idem_key="k2")
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(lost)
    found = await running.adapter.find_sent(lost)
    await running.stop()
    second = Running(make(sim), inbox)  # which knows of none of them
    await second.start()
    assert await second.adapter.find_sent(lost) == found
    assert await second.adapter.find_sent(growing("Never said", idem_key="k3")) is None
    await second.stop()
    shown = [one.ts for one in sim.replies(general, root)]
    assert [other.message_id, found.message_id] == shown


async def test_a_message_that_was_deleted_meanwhile_is_said_to_be_so(sim, general, root, running, growing):
    receipt = await running.adapter.send(growing("one"))
    sim.delete(sim.replies(general, root)[0])
    with pytest.raises(MessageRejected):
        await running.adapter.edit(receipt.message_id, growing("one two"))


@pytest.mark.req("AGT-3")
async def test_a_stream_bears_the_answerers_name(sim, general, root, inbox, growing):
    sim.account.scopes |= {"chat:write.customize"}
    running = Running(make(sim), inbox)
    await running.start()
    await running.adapter.send(growing("hoo", author=Author(name="Owl", avatar=":owl:")))
    await running.stop()
    (reply,) = sim.replies(general, root)
    assert (reply.shown_name, reply.shown_icon, reply.is_streaming) == ("Owl", ":owl:", True)


@pytest.mark.req("DLV-4")
async def test_no_growing_text_notifies_anybody(sim, general, root, running, growing):
    text = "<!channel> <@U0SIM> <!here> @everyone and `<!channel>`\n\nnext"
    receipt = await running.adapter.send(growing(text))
    await running.adapter.edit(receipt.message_id, growing(text + " more\n\n<!channel>\n\nmore"))
    assert sim.pings == {}


async def test_a_request_that_hangs_holds_no_stream_for_ever(sim, general, root, inbox, growing):
    running = Running(make(sim, send_timeout_s=1), inbox)
    await running.start()
    receipt = await running.adapter.send(growing("one"))
    sim.faults.add(Hold(name="slow"), method="chat.appendStream")
    with pytest.raises(OutcomeUnknown):
        await running.adapter.edit(receipt.message_id, growing("one two"))
    await running.adapter.edit(receipt.message_id, growing("one two", growing=False, idem_key="k"))
    await running.stop()
    assert [(one.shown, one.is_streaming) for one in sim.replies(general, root)] == [("one two", False)]
