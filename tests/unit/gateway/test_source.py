"""Sources and session keys: two different places or people never meet in one key."""

from dataclasses import replace
from typing import Any, cast, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.source import ChatKind, SessionScope, SessionSource, is_shared, session_key

PARTS = st.text(alphabet=st.sampled_from(":%/\\a2A5 é"), max_size=6)
SOURCES = st.builds(
    SessionSource,
    platform=PARTS,
    account=PARTS,
    kind=st.sampled_from(get_args(ChatKind)),
    chat_id=PARTS,
    thread_id=st.none() | PARTS.filter(bool),
    user_id=PARTS,
)
SCOPES = st.builds(
    SessionScope, group=st.sampled_from(["user", "shared"]), thread=st.sampled_from(["user", "shared"])
)


def identity(source: SessionSource, scope: SessionScope) -> tuple[Any, ...]:
    """What decides who shares a session: the place, and the person unless the place is shared or a direct chat."""
    place = (source.platform, source.account, source.kind, source.chat_id, source.thread_id)
    own = source.kind != "dm" and not is_shared(source, scope)
    return (*place, source.user_id if own else None)


@pytest.mark.req("SRC-2")
@given(one=SOURCES, other=SOURCES, scope=SCOPES)
def test_two_sources_have_one_key_exactly_when_they_share_a_session(
    one: SessionSource, other: SessionSource, scope: SessionScope
) -> None:
    same = identity(one, scope) == identity(other, scope)

    assert (session_key(one, scope) == session_key(other, scope)) == same


@pytest.mark.req("SRC-2")
@given(parts=st.tuples(PARTS, PARTS), moved=st.integers(0, 6), scope=SCOPES)
def test_where_one_part_ends_and_the_next_begins_is_part_of_the_key(
    parts: tuple[str, str], moved: int, scope: SessionScope
) -> None:
    joined = ":".join(parts)
    split = (joined[:moved], joined[moved:].removeprefix(":"))
    assume(split != parts)
    keys = {
        session_key(SessionSource(platform="p", account=account, kind="dm", chat_id=chat, user_id="u"), scope)
        for account, chat in (parts, split)
    }

    assert len(keys) == 2


@pytest.mark.req("SRC-2")
@pytest.mark.parametrize(
    ("kind", "scope", "key"),
    [
        ("dm", SessionScope(), "telegram:9:dm:-7:"),
        ("group", SessionScope(), "telegram:9:group:-7::42"),
        ("group", SessionScope(group="shared"), "telegram:9:group:-7:"),
        ("channel", SessionScope(), "telegram:9:channel:-7::42"),
        ("thread", SessionScope(), "telegram:9:thread:-7:3"),
        ("thread", SessionScope(thread="user"), "telegram:9:thread:-7:3:42"),
    ],
)
def test_a_direct_chat_is_its_chat_a_group_each_persons_and_a_thread_its_members(
    kind: str, scope: SessionScope, key: str
) -> None:
    source = SessionSource(
        platform="telegram",
        account="9",
        kind=cast("ChatKind", kind),
        chat_id="-7",
        thread_id="3" if kind == "thread" else None,
        user_id="42",
        user_name="Ann",
    )

    assert session_key(source, scope) == key
    assert source.requester == "telegram:42"


@pytest.mark.req("SRC-2")
@given(source=SOURCES, scope=SCOPES, names=st.tuples(st.text(), st.text()))
def test_names_are_for_reading_and_never_part_of_a_key(
    source: SessionSource, scope: SessionScope, names: tuple[str, str]
) -> None:
    renamed = replace(source, user_name=names[0], chat_name=names[1])
    assert session_key(renamed, scope) == session_key(source, scope)


def test_whoever_speaks_as_the_chat_itself_may_be_several_people():
    hidden = SessionSource(
        platform="telegram", account="1", kind="group", chat_id="-100", user_id="-100", user_name="Club"
    )
    own = SessionScope(group="user", thread="user")

    assert is_shared(hidden, own)
    assert not is_shared(replace(hidden, user_id="5"), own)
    assert not is_shared(replace(hidden, kind="dm", chat_id="5", user_id="5"), own)
