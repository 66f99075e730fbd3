"""The simulated Slack as the real slack_sdk sees it: the Web API, its limits and its refusals."""

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.unit.simulators.slack.apps import make_client

pytestmark = pytest.mark.req("ADP-10")


@pytest.fixture
def ada(slack_sim):
    return slack_sim.add_user(name="Ada")


@pytest.fixture
def client(slack_sim):
    return make_client(slack_sim)


def section(length):
    return {"type": "section", "text": {"type": "mrkdwn", "text": "x" * length}}


def markdown(length):
    return {"type": "markdown", "text": "x" * length}


def actions(*buttons):
    return {"type": "actions", "elements": list(buttons)}


def button(number=0, value="v", label="Go"):
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "action_id": f"a{number}", "value": value, "text": text}


async def error_of(call):
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response["error"]


@pytest.mark.parametrize(
    "blocks",
    [
        [section(3_000)],
        [section(200)] * 50,
        [markdown(12_000)],
        [markdown(6_000), markdown(6_000)],
        [actions(*(button(number) for number in range(25)))],
        [actions(button(value="v" * 2_000, label="x" * 75))],
        [markdown(12_000), actions(button())],
    ],
)
async def test_blocks_at_the_limit_are_taken(slack_sim, ada, client, blocks):
    await client.chat_postMessage(channel=ada.id, text="x", blocks=blocks)
    assert len(slack_sim.replies(ada)) == 1


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ([section(3_001)], "invalid_blocks"),
        ([section(0)], "invalid_blocks"),
        ([section(1)] * 51, "invalid_blocks"),
        ([markdown(12_001)], "invalid_blocks"),
        ([markdown(6_000), markdown(6_001)], "invalid_blocks"),
        ([markdown(11_000), section(2_500)], "msg_blocks_too_long"),
        ([actions(*(button(number) for number in range(26)))], "invalid_blocks"),
        ([actions(button(), button())], "invalid_blocks"),
        ([actions(button(value="v" * 2_001))], "invalid_blocks"),
        ([actions(button(label="x" * 76))], "invalid_blocks"),
        ([{"type": "gallery"}], "invalid_blocks"),
        ("nonsense", "invalid_blocks_format"),
    ],
)
async def test_blocks_beyond_a_limit_are_refused_by_name(slack_sim, ada, client, blocks, error):
    assert await error_of(client.chat_postMessage(channel=ada.id, text="x", blocks=blocks)) == error
    assert slack_sim.refusals == {error: 1}
    assert slack_sim.replies(ada) == []


async def test_text_may_have_forty_thousand_characters_and_an_update_four(slack_sim, ada, client):
    sent = await client.chat_postMessage(channel=ada.id, text="x" * 40_000)
    place = {"channel": sent["channel"], "ts": sent["ts"]}
    await client.chat_update(**place, text="y" * 4_000)
    assert await error_of(client.chat_update(**place, text="y" * 4_001)) == "msg_too_long"
    assert (
        await error_of(client.chat_update(**place, text="&" * 1_000)) == "msg_too_long"
    )  # 5 each as entities
    assert await error_of(client.chat_postMessage(channel=ada.id, text="x" * 40_001)) == "msg_too_long"
    assert await error_of(client.api_call("chat.postMessage", json={"channel": ada.id})) == "no_text"
    assert slack_sim.replies(ada)[0].texts() == ["x" * 40_000, "y" * 4_000]


async def test_an_update_with_text_alone_drops_the_blocks(slack_sim, ada, client):
    sent = await client.chat_postMessage(channel=ada.id, text="x", blocks=[section(5), actions(button())])
    place = {"channel": sent["channel"], "ts": sent["ts"]}
    await client.chat_update(**place, text="fallback", blocks=[section(2), actions(button())])
    (message,) = slack_sim.replies(ada)
    assert (message.shown, len(message.buttons), message.edited_ts) == ("xx", 1, None)
    await client.chat_update(**place, text="done")
    assert (message.shown, message.buttons) == ("done", ())
    assert message.edited_ts is not None


async def test_where_one_may_not_write_is_told_apart(slack_sim, ada, client):
    general = slack_sim.add_channel("general", [ada])
    elsewhere = slack_sim.add_channel("elsewhere", [ada], with_bots=False)
    secret = slack_sim.add_channel("secret", [ada], kind="private", with_bots=False)
    assert await error_of(client.chat_postMessage(channel="C0NOWHERE", text="x")) == "channel_not_found"
    assert await error_of(client.chat_postMessage(channel=elsewhere.id, text="x")) == "not_in_channel"
    assert await error_of(client.chat_postMessage(channel=secret.id, text="x")) == "channel_not_found"
    slack_sim.people.bar(general)
    assert await error_of(client.chat_postMessage(channel=general.id, text="x")) == "is_archived"


async def test_only_ones_own_messages_are_changed(slack_sim, ada, client):
    theirs = slack_sim.say(ada, "mine")
    place = {"channel": theirs.channel.id, "ts": theirs.ts}
    assert await error_of(client.chat_update(**place, text="x")) == "cant_update_message"
    assert await error_of(client.chat_delete(**place)) == "cant_delete_message"
    assert (
        await error_of(client.chat_update(channel=theirs.channel.id, ts="1.2", text="x"))
        == "message_not_found"
    )


async def test_tokens_and_scopes_are_checked(slack_sim, ada, client):
    assert await error_of(make_client(slack_sim, "xoxb-other").auth_test()) == "invalid_auth"
    assert await error_of(make_client(slack_sim, slack_sim.app_token).auth_test()) == "not_allowed_token_type"
    slack_sim.account.scopes = frozenset({"users:read"})
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=ada.id, text="x")
    answer = caught.value.response
    assert (answer["error"], answer["needed"], answer["provided"]) == (
        "missing_scope",
        "chat:write",
        "users:read",
    )
    assert (await client.auth_test()).headers["X-OAuth-Scopes"] == "users:read"
    slack_sim.account.revoked = "token_revoked"
    assert await error_of(client.auth_test()) == "token_revoked"


async def test_a_flood_says_how_long_to_wait(slack_sim, ada, client):
    slack_sim.flood(ada, retry_after_s=30)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=slack_sim.channel(ada).id, text="x")
    answer = caught.value.response
    assert (answer.status_code, answer["error"], answer.headers["Retry-After"]) == (429, "ratelimited", "30")
    assert slack_sim.refusals == {}


async def test_metadata_is_kept_and_shown_only_when_asked_for(slack_sim, ada, client):
    metadata = {"event_type": "parley_message", "event_payload": {"key": "k1"}}
    sent = await client.chat_postMessage(channel=ada.id, text="one", metadata=metadata)
    await client.chat_postMessage(channel=ada.id, text="two", thread_ts=sent["ts"], metadata=metadata)
    channel = sent["channel"]
    (message,) = (await client.conversations_history(channel=channel))["messages"]
    assert "metadata" not in message
    (message,) = (await client.conversations_history(channel=channel, include_all_metadata=True))["messages"]
    assert (message["text"], message["metadata"], message["reply_count"]) == ("one", metadata, 1)
    thread = await client.conversations_replies(channel=channel, ts=sent["ts"], include_all_metadata=True)
    assert [message["metadata"]["event_payload"]["key"] for message in thread["messages"]] == ["k1", "k1"]


async def test_history_comes_newest_first_in_pages_and_within_bounds(slack_sim, ada, client):
    said = [slack_sim.say(ada, str(number)) for number in range(5)]
    channel = said[0].channel.id
    first = await client.conversations_history(channel=channel, limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    second = await client.conversations_history(channel=channel, limit=3, cursor=cursor)
    assert [[one["text"] for one in page["messages"]] for page in (first, second)] == [
        ["4", "3", "2"],
        ["1", "0"],
    ]
    later = await client.conversations_history(channel=channel, oldest=said[2].ts)
    assert [one["text"] for one in later["messages"]] == ["4", "3"]


async def test_mentions_notify_unless_they_are_escaped(slack_sim, ada, client):
    await client.chat_postMessage(channel=ada.id, text="&lt;!channel&gt; @here `<!here>`")
    assert slack_sim.pings == {}
    await client.chat_postMessage(channel=ada.id, text=f"<!channel> and <@{ada.id}>")
    assert slack_sim.pings == {"channel": 1, ada.id: 1}
    await client.chat_postMessage(channel=ada.id, text="@everyone", link_names=True)
    assert slack_sim.pings["everyone"] == 1


@pytest.mark.parametrize(
    ("text", "mrkdwn", "shown"),
    [
        ("*bold* _it_ ~no~ `*x*` 2*3*4", True, "bold it no *x* 2*3*4"),
        ("*bold* &lt;b&gt;", False, "*bold* <b>"),
        ("<https://a.b|here>, <https://c.d>", True, "here, https://c.d"),
        ("```\na *b*\n```", True, "\na *b*\n"),
        ("a < b & c", True, "a < b & c"),
    ],
)
async def test_markup_is_read_as_clients_read_it(slack_sim, ada, client, text, mrkdwn, shown):
    await client.chat_postMessage(channel=ada.id, text=text, mrkdwn=mrkdwn)
    assert slack_sim.replies(ada)[0].shown == shown


async def test_a_markdown_block_is_read_as_markdown(slack_sim, ada, client):
    text = "# Hi\n\na **bold** ~~word~~ and `code`\n\n- one\n- two\n\n```py\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    await client.chat_postMessage(channel=ada.id, text="x", blocks=[{"type": "markdown", "text": text}])
    assert (
        slack_sim.replies(ada)[0].shown == "Hi\n\na bold word and code\n\n• one\n• two\n\nx\n\na | b\n1 | 2"
    )


async def test_what_one_person_alone_sees_is_no_message(slack_sim, ada, client):
    general = slack_sim.add_channel("general", [ada])
    await client.chat_postEphemeral(channel=general.id, user=ada.id, text="psst")
    assert [one.text for one in slack_sim.ephemerals(general, ada)] == ["psst"]
    assert slack_sim.messages(general) == []
    assert (
        await error_of(client.chat_postEphemeral(channel=general.id, user="U9", text="x"))
        == "user_not_in_channel"
    )


async def test_a_stream_grows_and_ends(slack_sim, ada, client):
    asked = slack_sim.say(ada, "tell me")
    started = await client.chat_startStream(
        channel=asked.channel.id, thread_ts=asked.ts, markdown_text="**One", recipient_user_id=ada.id
    )
    place = {"channel": started["channel"], "ts": started["ts"]}
    await client.chat_appendStream(**place, markdown_text=" two**")
    assert await error_of(client.chat_update(**place, text="x")) == "streaming_state_conflict"
    await client.chat_stopStream(**place, markdown_text=" three", blocks=[actions(button())])
    (message,) = slack_sim.replies(ada, asked)
    assert (message.shown, len(message.buttons), message.is_streaming) == ("One two three", 1, False)
    late = client.chat_appendStream(**place, markdown_text="x")
    assert await error_of(late) == "message_not_in_streaming_state"


async def test_a_stream_in_a_channel_names_its_reader(slack_sim, ada, client):
    asked = slack_sim.say(slack_sim.add_channel("general", [ada]), "tell us")
    place = {"channel": asked.channel.id, "thread_ts": asked.ts}
    assert await error_of(client.chat_startStream(**place)) == "missing_recipient_team_id"
    await client.chat_startStream(**place, recipient_user_id=ada.id, recipient_team_id=ada.team)


async def test_reactions_statuses_and_files_are_kept(slack_sim, ada, client):
    said = slack_sim.say(ada, "hello")
    place = {"channel": said.channel.id, "timestamp": said.ts}
    await client.reactions_add(**place, name="eyes")
    assert said.reactions == ["eyes"]
    assert await error_of(client.reactions_add(**place, name="eyes")) == "already_reacted"
    await client.reactions_remove(**place, name="eyes")
    await client.assistant_threads_setStatus(channel_id=said.channel.id, thread_ts=said.ts, status="thinking")
    assert said.channel.statuses == [(said.ts, "thinking")]
    await client.files_upload_v2(channel=said.channel.id, filename="a.txt", content="abc")
    (shown,) = slack_sim.replies(ada)
    assert [(file.name, file.content) for file in shown.files] == [("a.txt", b"abc")]


async def test_a_private_file_needs_the_token_and_else_is_a_login_page(slack_sim, ada, client):
    said = slack_sim.say(ada, "look", file=("a.txt", b"abc"))
    history = await client.conversations_history(channel=said.channel.id)
    address = history["messages"][0]["files"][0]["url_private"]
    async with aiohttp.ClientSession() as session:
        async with session.get(address) as answer:
            assert (answer.status, answer.content_type) == (200, "text/html")
        async with session.get(address, headers={"Authorization": f"Bearer {slack_sim.token}"}) as answer:
            assert await answer.read() == b"abc"


async def test_names_are_looked_up(slack_sim, ada, client):
    general = slack_sim.add_channel("general", [ada])
    user = (await client.users_info(user=ada.id))["user"]
    assert (user["profile"]["display_name"], user["is_bot"]) == ("Ada", False)
    assert (await client.conversations_info(channel=general.id))["channel"]["name"] == "general"
    opened = await client.conversations_open(users=[ada.id])
    assert opened["channel"]["id"] == slack_sim.channel(ada).id
