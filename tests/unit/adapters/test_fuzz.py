"""Malformed updates: whatever a platform (or who pretends to be one) sends, a parser says what it is or refuses it.

Each update is a right one in which a few values were replaced, removed or added, or any JSON at all. A few thousand by
default; PARLEY_FUZZ=100000 tries as many for each parser.
"""

import copy
import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.discord import parse as discord
from adapters.discord.places import Place
from adapters.slack import parse as slack
from adapters.slack.readable import Names
from adapters.telegram import parse as telegram
from gateway.source import SessionScope, SessionSource, session_key

pytestmark = pytest.mark.req("ACC-4", "ADP-2", "ADP-3", "ADP-4")

EXAMPLES = int(os.environ.get("PARLEY_FUZZ", "700"))
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What adapters expect of a parser besides a value; they log it and go on."""

USER = {"id": 5, "is_bot": False, "first_name": "Ada", "username": "ada"}
CHAT = {"id": -1001, "type": "supergroup", "title": "Forum", "is_forum": True}
SAID = {
    "message_id": 3,
    "from": USER,
    "chat": CHAT,
    "date": 1_790_000_000,
    "text": "/ask@ParleyBot hello",
    "entities": [{"type": "bot_command", "offset": 0, "length": 14}],
    "message_thread_id": 4,
    "is_topic_message": True,
    "reply_to_message": {"message_id": 2, "from": USER, "chat": CHAT, "date": 1, "text": "x"},
    "photo": [{"file_id": "f", "file_size": 10, "width": 1, "height": 1}],
    "document": {"file_id": "d", "file_name": "a.txt", "mime_type": "text/plain", "file_size": 3},
    "media_group_id": "9",
}
TELEGRAM = (
    {"update_id": 100, "message": SAID},
    {"update_id": 100, "edited_message": SAID},
    {"update_id": 100, "message": {**SAID, "migrate_to_chat_id": -5}},
    {"update_id": 100, "callback_query": {"id": "1", "from": USER, "message": SAID, "data": "pl1:x"}},
)
DISCORD_USER = {"id": "5", "username": "ada", "global_name": "Ada", "bot": False}
DISCORD_SAID = {
    "id": "900",
    "channel_id": "200",
    "guild_id": "1",
    "author": DISCORD_USER,
    "member": {"nick": "A", "roles": ["70"]},
    "content": "<@7> hello",
    "timestamp": "2026-11-30T12:00:00.250000+00:00",
    "edited_timestamp": "2026-11-30T12:00:01+00:00",
    "type": 19,
    "mentions": [{"id": "7", "username": "parley"}],
    "attachments": [
        {"id": "1", "filename": "a.png", "content_type": "image/png", "size": 3, "url": "https://x"}
    ],
    "message_reference": {"message_id": "899", "type": 0},
    "referenced_message": {"id": "899", "author": DISCORD_USER},
    "message_snapshots": [{"message": {"content": "x", "attachments": []}}],
}
INTERACTION = {
    "id": "1",
    "type": 3,
    "token": "t",
    "channel": {"id": "200", "type": 0, "name": "general", "guild_id": "1"},
    "channel_id": "200",
    "guild_id": "1",
    "member": {"user": DISCORD_USER, "nick": "A"},
    "data": {"custom_id": "pl1:x", "name": "parley", "options": [{"name": "text", "value": "hello"}]},
    "message": {"id": "5"},
}
DISCORD_SENT = (DISCORD_SAID, {**DISCORD_SAID, "type": 0, "message_reference": {"type": 1}})
INTERACTIONS = (INTERACTION, {**INTERACTION, "type": 2})
EVENT = {
    "type": "message",
    "user": "U1",
    "ts": "1714564800.000200",
    "thread_ts": "1714564700.000100",
    "text": "<@UBOT> hello <#C1|general> &amp;",
    "channel": "C1",
    "channel_type": "channel",
    "team": "T1",
    "files": [{"id": "F1", "name": "a.txt", "mimetype": "text/plain", "size": 3, "url_private": "https://x"}],
    "blocks": [{"type": "rich_text", "elements": []}],
}
SLACK = (
    {"team_id": "T1", "event_id": "E1", "event": EVENT},
    {
        "team_id": "T1",
        "event_id": "E1",
        "event": {
            "type": "message",
            "subtype": "message_changed",
            "channel": "C1",
            "channel_type": "channel",
            "ts": "1714564801.000000",
            "message": {**EVENT, "edited": {"ts": "1714564802.000000", "user": "U1"}},
            "previous_message": EVENT,
        },
    },
    {
        "team_id": "T1",
        "event_id": "E1",
        "event": {
            "type": "message",
            "subtype": "message_deleted",
            "channel": "C1",
            "channel_type": "channel",
            "ts": "1714564801.000000",
            "deleted_ts": "1714564800.000200",
            "previous_message": EVENT,
        },
    },
)
SLACK_PRESSES = (
    {
        "type": "block_actions",
        "trigger_id": "9.9",
        "team": {"id": "T1"},
        "user": {"id": "U1", "username": "ada"},
        "channel": {"id": "C1"},
        "container": {"type": "message", "message_ts": "1.1", "channel_id": "C1", "thread_ts": "1.0"},
        "actions": [{"type": "button", "action_id": "a", "value": "pl1:x"}],
        "message": {"ts": "1.1", "thread_ts": "1.0"},
    },
)
SLACK_COMMANDS = (
    {
        "command": "/parley",
        "text": "status",
        "channel_id": "C1",
        "user_id": "U1",
        "user_name": "ada",
        "team_id": "T1",
        "trigger_id": "9.9",
    },
)

KNOWN = slack.Known(names=Names(users={"U1": "Ada"}, channels={"C1": "general"}), own_thread=False)
SLACK_BOT = slack.Identity(id="UBOT", bot_id="BBOT", team="T1")
DISCORD_BOT = discord.Identity(id="7", roles=frozenset({"70"}))
ROOM = Place(kind="group", chat_id="200", name="general")
NOW = datetime(2026, 1, 1, tzinfo=UTC)

PARSERS: dict[str, tuple[tuple[Any, ...], Callable[[Any], object], tuple[type[Exception], ...]]] = {
    "telegram": (
        TELEGRAM,
        lambda raw: telegram.parse_update(raw, telegram.Identity(id="7", username="ParleyBot")),
        (ValueError,),
    ),
    "discord.message": (
        DISCORD_SENT,
        lambda raw: discord.parse_message(raw, ROOM, DISCORD_BOT),
        UNREADABLE,
    ),
    "discord.edit": (DISCORD_SENT, lambda raw: discord.parse_edit(raw, ROOM, DISCORD_BOT), UNREADABLE),
    "discord.interaction": (
        INTERACTIONS,
        lambda raw: discord.parse_interaction(raw, DISCORD_BOT),
        UNREADABLE,
    ),
    "slack.event": (SLACK, lambda raw: slack.parse_event(raw, SLACK_BOT, KNOWN), UNREADABLE),
    "slack.press": (SLACK_PRESSES, lambda raw: slack.parse_press(raw, SLACK_BOT, KNOWN.names), UNREADABLE),
    "slack.command": (
        SLACK_COMMANDS,
        lambda raw: slack.parse_command(raw, SLACK_BOT, KNOWN.names, "/parley", NOW),
        UNREADABLE,
    ),
}

odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 2**63, 10**400, 1e308, float("inf"), float("nan")]),
    st.text(max_size=5),
    st.sampled_from(["", " ", "\x00", "\ud800", "١٢٣", "pl1:", "a" * 5_000, "-", "1e9", "U1", "7"]),
    st.lists(st.none(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
)
anything = st.recursive(
    odd, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value below."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


@st.composite
def malformed(draw: st.DrawFn, samples: tuple[Any, ...]) -> Any:
    if draw(st.integers(0, 19)) == 0:
        return draw(anything)
    raw = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 3))):
        *path, key = draw(st.sampled_from(places(raw)[1:] or [("x",)]))
        inner = raw
        for step in path:
            inner = inner[step]
        if draw(st.booleans()):
            inner[key] = draw(anything)
        else:
            del inner[key]
        if not places(raw)[1:]:
            break
    return raw


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_malformed_update_is_read_or_refused_and_never_half_read(name: str, data: st.DataObject) -> None:
    samples, parse, refusals = PARSERS[name]
    raw = data.draw(malformed(samples))
    try:
        update = parse(raw)
    except refusals:
        return
    if update is None:
        return
    assert is_dataclass(update)
    source = update.source  # type: ignore[attr-defined]
    assert isinstance(source, SessionSource)
    texts = [getattr(source, each.name) for each in fields(source) if each.name != "thread_id"]
    texts += [
        getattr(update, each)
        for each in ("id", "message_id", "text", "token", "moved_to")
        if hasattr(update, each)
    ]
    assert [text for text in texts if not isinstance(text, str) and text is not None] == []
    assert source.thread_id is None or isinstance(source.thread_id, str)
    assert session_key(source, SessionScope())
