"""Who may do what: deny is the default, entries are ids."""

from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.access import Access, AccessLists, Action
from gateway.source import ChatKind, SessionSource

ACTIONS = get_args(Action)


def somebody(user_id: str = "1", *, kind: str = "dm", chat_id: str = "1", **rest: Any) -> SessionSource:
    fields = {"platform": "telegram", "account": "9", **rest}
    return SessionSource(kind=cast("ChatKind", kind), chat_id=chat_id, user_id=user_id, **fields)


def access(*allow: str, admins: tuple[str, ...] = ()) -> Access:
    return Access({"telegram": AccessLists(allow=frozenset(allow), admins=frozenset(admins))})


@pytest.mark.req("ACC-1", "ACC-2")
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("lists", "who", "role"),
    [
        (Access({}), somebody(), None),
        (access(), somebody(), None),
        (access("1"), somebody("1"), "user"),
        (access("1"), somebody("2"), None),
        (access("1"), somebody("1", platform="discord"), None),
        (access("1"), somebody("1", kind="group", chat_id="-7"), None),
        (access("chat:-7"), somebody("2", kind="group", chat_id="-7"), "user"),
        (access("chat:-7"), somebody("2", kind="thread", chat_id="-7"), "user"),
        (access("chat:-7"), somebody("2", kind="group", chat_id="-8"), None),
        (access("chat:1"), somebody("1", chat_id="1"), None),  # a chat admits members, not a direct chat
        (access("-7"), somebody("2", kind="group", chat_id="-7"), None),
        (access("*"), somebody("666", kind="channel", chat_id="-9"), "user"),
        (access(admins=("3",)), somebody("3", kind="group", chat_id="-9"), "admin"),
        (access("3", admins=("3",)), somebody("3"), "admin"),
        (access(), somebody("1", user_name="3"), None),
    ],
)
def test_a_role_follows_from_ids_alone(
    lists: Access, who: SessionSource, role: str | None, action: Any
) -> None:
    assert lists.authorize(who, action) == role


@pytest.mark.req("ACC-1")
@given(name=st.text(), chat_name=st.text(), user_id=st.text(min_size=1))
def test_no_name_lets_anybody_in(name: str, chat_name: str, user_id: str) -> None:
    lists = access("the owner", "chat:the owner", admins=("the admin",))
    who = somebody(f"x{user_id}", user_name=name, chat_name=chat_name)

    assert lists.authorize(who, "message") is None


@pytest.mark.req("ACC-2")
def test_who_sits_at_the_machine_is_its_operator() -> None:
    lists = Access({}, operators=frozenset({"terminal"}))

    assert lists.authorize(somebody(platform="terminal"), "message") == "admin"
    assert lists.authorize(somebody(platform="telegram"), "message") is None
