"""What every adapter promises, asked of each of them through its own platform (`stages`)."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from gateway.adapter import (
    ChecksItself,
    EditsMessages,
    FetchesFiles,
    LooksUpSent,
    Reacts,
    SendsFiles,
    ShowsTyping,
    StreamsNatively,
)
from gateway.document import Document, parse, plain, text_document
from gateway.errors import (
    AccessRefused,
    ConnectionLost,
    MessageRejected,
    OutcomeUnknown,
    RateLimited,
    StoreUnavailable,
    TargetGone,
)
from gateway.messages import (
    Button,
    InboundMessage,
    MessageDeleted,
    MessageEdited,
    OutboundFile,
    OutboundMessage,
    PressAnswer,
    Target,
)

from .stages.base import Place, RecordingInbox, Running, Stage

pytestmark = [pytest.mark.req("ADP-1", "SRC-1"), pytest.mark.asyncio]

CARD = ((Button(label="Once", token="pl1:once"), Button(label="Deny", token="pl1:deny", style="danger")),)


_KEYS = count()  # an equal key means the same message


def to(stage: Stage, body: Document | str, place: Place = "dm", **details: object) -> OutboundMessage:
    document = text_document(body) if isinstance(body, str) else body
    return OutboundMessage(target=stage.target(place), body=document, idem_key=f"k{next(_KEYS)}", **details)


# What comes in.


async def test_a_direct_message_comes_with_its_source(stage: Stage, running: Running, inbox: RecordingInbox):
    before = datetime.now(UTC) - timedelta(seconds=2)
    stage.say("hello there")
    message = await inbox.wait_message("hello there")
    source = message.source
    assert (source.platform, source.account, source.kind, source.thread_id) == (
        stage.adapter.platform,
        stage.adapter.account,
        "dm",
        None,
    )
    assert Target.of(source) == stage.target("dm")
    assert source.user_id
    assert before <= message.sent_at <= datetime.now(UTC)
    assert message.sent_at.tzinfo is UTC
    assert not message.from_bot
    assert message.attachments == ()


async def test_messages_come_once_each_in_order_and_with_ids_of_their_own(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    texts = [f"number {number}" for number in range(20)]
    for text in texts:
        stage.say(text)
    await inbox.wait_received(20)
    assert [message.text for message in inbox.messages] == texts
    assert len({message.id for message in inbox.messages}) == 20
    assert len({message.message_id for message in inbox.messages}) == 20


async def test_text_of_any_script_comes_unchanged(stage: Stage, running: Running, inbox: RecordingInbox):
    stage.say("Grüße 👩‍👩‍👧 <b> *x* `y` _z_ \\ & 你好")
    assert await inbox.wait_message("Grüße 👩‍👩‍👧 <b> *x* `y` _z_ \\ & 你好")


@pytest.mark.needs("groups")
async def test_a_group_message_names_group_and_person(stage: Stage, running: Running, inbox: RecordingInbox):
    stage.say("hello all", "group")
    message = await inbox.wait_message("hello all")
    assert message.source.kind == "group"
    assert Target.of(message.source) == stage.target("group")
    assert message.source.user_id != message.source.chat_id
    assert not message.mentions_bot


@pytest.mark.needs("groups")
async def test_a_mention_of_the_bot_is_noticed_and_is_not_part_of_the_text(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    stage.say("what time is it", "group", mention=True)
    assert (await inbox.wait_message("what time is it")).mentions_bot


@pytest.mark.needs("groups", "replies")
async def test_an_answer_to_the_bot_counts_as_a_mention(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    receipt = await stage.adapter.send(to(stage, "a word", "group"))
    stage.say("and then?", "group", answer=True)
    message = await inbox.wait_message("and then?")
    assert (message.mentions_bot, message.reply_to) == (True, receipt.message_id)


@pytest.mark.needs("threads")
async def test_a_thread_is_a_place_of_its_own(stage: Stage, running: Running, inbox: RecordingInbox):
    stage.say("in the thread", "thread")
    source = (await inbox.wait_message("in the thread")).source
    assert source.kind == "thread"
    assert Target.of(source) == stage.target("thread")
    assert source.thread_id is not None


@pytest.mark.needs("edits_by_people")
async def test_an_edit_names_the_message_it_changes(stage: Stage, running: Running, inbox: RecordingInbox):
    stage.say("first thought")
    message = await inbox.wait_message("first thought")
    stage.edit("second thought")
    edit = (await inbox.wait_received(2))[1]
    assert edit == MessageEdited(
        id=edit.id, message_id=message.message_id, source=message.source, text="second thought"
    )
    assert edit.id != message.id


@pytest.mark.needs("deletes_by_people")
@pytest.mark.req("ADP-7")
async def test_a_deletion_names_the_message_that_is_gone(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    stage.say("never mind")
    message = await inbox.wait_message("never mind")
    stage.delete()
    gone = (await inbox.wait_received(2))[1]
    assert isinstance(gone, MessageDeleted)
    assert (gone.message_id, Target.of(gone.source)) == (message.message_id, stage.target("dm"))
    assert gone.id != message.id


# What goes out.


@pytest.mark.parametrize("place", ["dm"])
async def test_what_is_sent_is_shown(stage: Stage, running: Running, place: Place):
    receipt = await stage.adapter.send(to(stage, "good morning", place))
    assert receipt.message_id
    assert stage.shown(place) == ["good morning"]


@pytest.mark.needs("threads")
async def test_an_answer_in_a_thread_stays_in_it(stage: Stage, running: Running):
    await stage.adapter.send(to(stage, "only here", "thread"))
    assert (stage.shown("thread"), stage.shown("dm")) == (["only here"], [])


async def test_each_message_has_an_id_of_its_own(stage: Stage, running: Running):
    receipts = [await stage.adapter.send(to(stage, f"part {number}")) for number in range(3)]
    assert len({receipt.message_id for receipt in receipts}) == 3
    assert stage.shown() == ["part 0", "part 1", "part 2"]


async def test_text_that_looks_like_markup_is_shown_as_it_is(stage: Stage, running: Running):
    text = "**a** _b_ `c` <i>d</i> [e](http://f) &amp; \\* ~~g~~ @everyone"
    await stage.adapter.send(to(stage, text))
    assert stage.shown() == [text]


@pytest.mark.parametrize("plain_only", [False, True])
async def test_formatted_text_is_read_without_its_markup(stage: Stage, running: Running, plain_only: bool):
    await stage.adapter.send(to(stage, parse("a **bold** word and `code`"), plain=plain_only))
    assert stage.shown() == ["a bold word and code"]


async def test_a_message_as_long_as_the_limit_is_shown_whole_and_a_longer_one_refused(
    stage: Stage, running: Running
):
    able = stage.adapter.capabilities
    longest = text_document("x" * able.limit)
    assert able.measure(longest) == able.limit
    await stage.adapter.send(to(stage, longest))
    assert stage.shown() == [plain(longest)]
    stage.expect_refusal()
    with pytest.raises(MessageRejected) as caught:
        await stage.adapter.send(to(stage, text_document("x" * (able.limit + 1))))
    assert not caught.value.markup
    assert len(stage.shown()) == 1


@pytest.mark.needs("replies")
async def test_a_reply_to_a_message_that_is_gone_is_sent_all_the_same(stage: Stage, running: Running):
    await stage.adapter.send(to(stage, "answer", reply_to="987654"))
    assert stage.shown() == ["answer"]


async def test_typing_is_best_effort(stage: Stage, running: Running):
    if isinstance(stage.adapter, ShowsTyping):
        await stage.adapter.show_typing(stage.target("dm"))
    assert stage.shown() == []


@pytest.mark.needs("edits")
async def test_an_edit_replaces_text_and_buttons_and_may_be_repeated(stage: Stage, running: Running):
    assert isinstance(stage.adapter, EditsMessages)
    receipt = await stage.adapter.send(to(stage, "may I?", buttons=CARD))
    stage.expect_refusal()  # a platform may refuse the repetition; the adapter knows better
    for _ in range(2):
        await stage.adapter.edit(receipt.message_id, to(stage, "allowed"))
    assert (stage.shown(), stage.buttons()) == (["allowed"], [])


@pytest.mark.needs("edits")
@pytest.mark.req("DLV-5")
async def test_a_growing_reply_is_one_message_which_in_the_end_says_all(stage: Stage, running: Running):
    assert isinstance(stage.adapter, EditsMessages)
    receipt = await stage.adapter.send(to(stage, "One", growing=True))
    await stage.adapter.edit(receipt.message_id, to(stage, "One, two", growing=True))
    assert stage.shown() == ["One, two"]
    await stage.adapter.edit(receipt.message_id, to(stage, parse("One, two, **three**"), buttons=CARD))
    assert (stage.shown(), stage.buttons()) == (["One, two, three"], ["Once", "Deny"])


@pytest.mark.needs("drafts")
@pytest.mark.req("DLV-5")
async def test_what_is_being_written_is_shown_and_is_no_message(stage: Stage, running: Running):
    assert isinstance(stage.adapter, StreamsNatively)
    for text in ("One", "One, **two**"):
        await stage.adapter.stream(7, to(stage, parse(text), growing=True))
    assert (stage.drafts()[-1], stage.shown()) == ("One, two", [])
    await stage.adapter.send(to(stage, "One, two, three"))
    assert stage.shown() == ["One, two, three"]


@pytest.mark.needs("drafts", "groups")
@pytest.mark.req("DLV-5")
async def test_where_there_are_no_drafts_that_is_said_so_that_the_reply_grows_by_edits(
    stage: Stage, running: Running
):
    assert isinstance(stage.adapter, StreamsNatively)
    with pytest.raises(MessageRejected):
        await stage.adapter.stream(7, to(stage, "One", "group", growing=True))


@pytest.mark.needs("reactions")
@pytest.mark.req("DLV-9")
async def test_a_mark_on_a_message_takes_the_place_of_the_one_before(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    assert isinstance(stage.adapter, Reacts)
    stage.expect_refusal()  # a mark that is there already may not be put again
    stage.say("mark me")
    message = await inbox.wait_message("mark me")
    seen: list[str] = []
    for reaction in ("seen", "done", "done", "failed"):
        await stage.adapter.react(stage.target("dm"), message.message_id, reaction)
        (mark,) = stage.reactions()
        seen.append(mark)
    assert (seen[1], len(set(seen))) == (seen[2], 3)


# Buttons.


@pytest.mark.req("APR-2")
async def test_a_press_brings_the_buttons_own_token(stage: Stage, running: Running, inbox: RecordingInbox):
    await stage.adapter.send(to(stage, "may I?", buttons=CARD))
    assert stage.buttons() == ["Once", "Deny"]
    stage.press("Deny")
    (press,) = await inbox.wait_received(1)
    assert (press.token, Target.of(press.source)) == ("pl1:deny", stage.target("dm"))
    assert press.source.user_id


@pytest.mark.needs("push_back")
async def test_the_presser_is_told_the_answer(stage: Stage, running: Running, inbox: RecordingInbox):
    inbox.answers["pl1:once"] = PressAnswer(text="This was decided before.")
    await stage.adapter.send(to(stage, "may I?", buttons=CARD))
    stage.press("Once")
    assert await stage.wait_told() == "This was decided before."


# Files.

PICTURE = OutboundFile(
    name="chart_of_2_years.png", data=b"\x89PNG" + bytes(range(256)) * 40, mime_type="image/png"
)


async def send_file(stage: Stage, message: OutboundMessage) -> str:
    assert isinstance(stage.adapter, SendsFiles)
    return (await stage.adapter.send_file(message)).message_id


async def test_whoever_says_that_files_can_be_sent_can_send_them(stage: Stage):
    able = stage.adapter.capabilities
    assert (able.file_limit_bytes > 0) == ("files" in stage.abilities)
    assert isinstance(stage.adapter, SendsFiles) >= (able.file_limit_bytes > 0)


@pytest.mark.needs("files")
@pytest.mark.req("DLV-8", "ADP-8")
async def test_a_file_arrives_whole_under_its_name_with_its_caption(stage: Stage, running: Running):
    caption = "1 & 2, <b> and @everyone"
    assert await send_file(stage, to(stage, caption, file=PICTURE))
    assert stage.files() == [(PICTURE.name, PICTURE.data, caption)]


@pytest.mark.needs("files", "threads")
@pytest.mark.req("DLV-8", "ADP-8")
async def test_a_file_without_a_caption_goes_to_its_thread(stage: Stage, running: Running):
    text = OutboundFile(name="報告.md", data="Grüße 👩‍👩‍👧\n".encode(), mime_type="text/markdown")
    await send_file(stage, to(stage, "", "thread", file=text))
    assert (stage.files("thread"), stage.files("dm")) == ([(text.name, text.data, "")], [])


@pytest.mark.needs("files")
@pytest.mark.req("DLV-2")
async def test_a_caption_may_be_as_long_as_its_limit(stage: Stage, running: Running):
    longest = text_document("x" * stage.adapter.capabilities.caption_limit)
    await send_file(stage, to(stage, longest, file=PICTURE))
    assert stage.files() == [(PICTURE.name, PICTURE.data, plain(longest))]


@pytest.mark.needs("files", "lost_answer")
@pytest.mark.req("DLV-7")
async def test_a_file_whose_answer_is_lost_is_not_repeated_and_found_where_the_platform_can_tell(
    stage: Stage, running: Running
):
    message = to(stage, "once only", file=PICTURE)
    stage.lose_answer(file=True)
    with pytest.raises(OutcomeUnknown):
        await send_file(stage, message)
    assert len(stage.files()) == 1
    able = stage.adapter.capabilities
    if isinstance(stage.adapter, LooksUpSent) and able.idempotency != "none":
        if await stage.adapter.find_sent(message) is None:
            await send_file(stage, message)  # the platform knows the key
        assert len(stage.files()) == 1


@pytest.mark.needs("files_by_people")
@pytest.mark.req("ADP-8")
async def test_a_persons_file_is_described_and_can_be_fetched_within_a_limit(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    data = "one\nzwei ü\n".encode()
    stage.send_file("notes.txt", data, "read this")
    (attachment,) = (await inbox.wait_message("read this")).attachments
    assert (attachment.name, attachment.mime_type, attachment.size_bytes) == (
        "notes.txt",
        "text/plain",
        len(data),
    )
    assert isinstance(stage.adapter, FetchesFiles)
    assert await stage.adapter.fetch(attachment, len(data)) == data
    for wrong, limit in ((attachment, len(data) - 1), (replace(attachment, ref="http://127.0.0.1:9/x"), 100)):
        stage.expect_refusal()
        with pytest.raises(MessageRejected):
            await stage.adapter.fetch(wrong, limit)


# What goes wrong.


@pytest.mark.needs("rate_limit")
async def test_a_rate_limit_says_how_long_and_the_same_message_passes_later(stage: Stage, running: Running):
    stage.limit_rate(7)
    with pytest.raises(RateLimited) as caught:
        await stage.adapter.send(to(stage, "too soon"))
    assert caught.value.retry_after_s == 7
    assert stage.shown() == []
    await stage.adapter.send(to(stage, "too soon"))
    assert stage.shown() == ["too soon"]


@pytest.mark.needs("gone_chat")
async def test_a_chat_that_is_closed_is_known_as_gone(stage: Stage, running: Running):
    stage.close_chat()
    with pytest.raises(TargetGone):
        await stage.adapter.send(to(stage, "anyone?"))
    assert stage.shown() == []


@pytest.mark.needs("lost_answer")
@pytest.mark.req("DLV-7")
async def test_a_lost_answer_leaves_the_outcome_unknown_and_is_not_repeated(stage: Stage, running: Running):
    stage.lose_answer()
    with pytest.raises(OutcomeUnknown):
        await stage.adapter.send(to(stage, "once only"))
    assert stage.shown() == ["once only"]


@pytest.mark.needs("account")
async def test_a_refused_account_is_named_without_its_secret(stage: Stage, inbox: RecordingInbox):
    adapter, secret = stage.with_bad_account()
    with pytest.raises(AccessRefused) as caught:
        await Running(adapter, inbox).start()
    error: BaseException | None = caught.value
    while error:
        assert secret not in str(error)
        error = error.__cause__ or error.__context__
    assert inbox.times_online == 0


@pytest.mark.needs("account")
@pytest.mark.req("OPS-7")
async def test_an_accounts_own_checks_need_no_run_and_hide_its_secret(stage: Stage):
    if not isinstance(stage.adapter, ChecksItself):
        return
    assert "failed" not in {finding.state for finding in (await stage.adapter.check()).findings}
    bad, secret = stage.with_bad_account()
    assert isinstance(bad, ChecksItself)
    checkup = await bad.check()
    assert "failed" in {finding.state for finding in checkup.findings}
    assert all(finding.fix for finding in checkup.findings if finding.state != "ok")
    assert secret not in repr(checkup)


@pytest.mark.needs("connection")
async def test_a_broken_connection_ends_the_run_and_a_new_one_misses_nothing(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    await stage.break_connection()
    with pytest.raises(ConnectionLost):
        await running.ended()
    stage.say("said meanwhile")
    await running.start()
    await inbox.wait_message("said meanwhile")
    await stage.adapter.send(to(stage, "heard"))
    assert stage.shown() == ["heard"]


@pytest.mark.needs("redelivery")
@pytest.mark.req("DLV-1")
async def test_what_could_not_be_stored_comes_again_and_nothing_is_confirmed_before(
    stage: Stage, running: Running, inbox: RecordingInbox
):
    inbox.refusals.append(StoreUnavailable("the disk is full"))
    stage.say("keep me")
    with pytest.raises(StoreUnavailable):
        await running.ended()
    (refused,) = inbox.refused[0]
    await running.start()
    message = await inbox.wait_message("keep me")
    assert isinstance(refused, InboundMessage)
    assert message == refused


async def test_a_cancelled_run_ends_at_once(stage: Stage, running: Running):
    async with asyncio.timeout(5):
        await running.stop()
