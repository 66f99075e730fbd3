"""Every way in that stands, tried by everybody: who changes anything, and who reads whose words.

A stranger is nobody in the lists; user, other and admin are listed; the approver is named in `approvals.approvers` and
is nothing else; the bot is another bot, which is not heard.
"""

from dataclasses import replace

import pytest

from gateway.messages import InboundMessage, MessageDeleted, MessageEdited
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import calls, says

CHAT = "-7"
IDS = {"user": "1", "other": "2", "approver": "8", "admin": "9", "stranger": "666", "bot": "700"}
ROLES = tuple(IDS)
COMMANDS = ("/stop", "/new", "/approve", "/deny", "/grants revoke 1", "/pause", "/restart")
ASKED = "use count {}"


@pytest.fixture
async def house(house_of: Open) -> House:
    return await house_of(
        access={
            "allow": {"memory": ["1", "2", f"chat:{CHAT}"]},
            "admins": {"memory": ["9"]},
            "pairing": False,
        },
        approvals={"approvers": ["memory:8"]},
        sessions={"group": "shared"},
    )


def direct(house: House, role: str) -> Person:
    return house.person(IDS[role], role)


def unlisted(house: House, role: str) -> Person:
    return house.member(IDS[role], role, chat_id="-99")


async def state(house: House) -> dict[str, list[object]]:
    """What a way in could change."""
    return {
        "turns": await house.values("SELECT state FROM turns ORDER BY id"),
        "inputs": await house.values("SELECT input FROM turns ORDER BY id"),
        "requests": await house.values("SELECT state FROM requests ORDER BY id"),
        "grants": await house.values("SELECT id FROM grants WHERE revoked_at IS NULL"),
        "switches": await house.values("SELECT name FROM switches"),
    }


@pytest.mark.req("ACC-1", "ACC-2")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("place", [direct, unlisted])
async def test_a_message_begins_a_turn_only_for_who_was_let_in_there(
    house: House, role: str, place: object
) -> None:
    person: Person = place(house, role)  # type: ignore[operator]
    person.says("good day", mentions=True, from_bot=role == "bot")
    await house.quiet()

    is_in = role == "admin" or (place is direct and role in {"user", "other"})
    assert [question[-8:] for question in house.model.questions] == (["good day"] if is_in else [])


@pytest.mark.req("ACC-1", "ACC-2", "APR-5")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("label", ["Once", "This session", "Always", "Deny"])
async def test_a_press_decides_only_for_who_may_answer(house: House, role: str, label: str) -> None:
    asker = direct(house, "user")
    asker.says(ASKED)
    card = await asker.gets_card()
    before = await state(house)
    presser = replace(direct(house, role), source=replace(direct(house, role).source, chat_id="1"))

    answer = await presser.presses(label, card)
    await house.quiet()

    after = await state(house)
    if role in {"user", "approver", "admin"}:
        wanted = {"Always": "pending", "Deny": "denied"}.get(label, "approved")
        assert after["requests"] == [wanted]
        assert len(house.lab.runs) == (wanted == "approved")
    else:
        assert answer.alert
        assert after == before
        assert house.lab.runs == []


@pytest.mark.req("ACC-1", "ACC-2")
@pytest.mark.parametrize(
    ("role", "command"),
    [
        (role, command)
        for role in ROLES
        for command in COMMANDS
        if role != "user" and (role != "admin" or command not in {"/pause", "/restart"})
    ],
)
async def test_a_command_from_ones_own_chat_touches_nobody_elses_turn(
    house: House, role: str, command: str
) -> None:
    asker = direct(house, "user")
    asker.says(ASKED)
    await asker.gets_card()
    before = await state(house)
    for place in (direct, unlisted):
        place(house, role).says(command, from_bot=role == "bot")
    await house.quiet()

    assert await state(house) == before
    assert house.lab.runs == []


@pytest.mark.req("ACC-1")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("way", ["edit", "deletion"])
async def test_an_edit_or_deletion_changes_only_ones_own_words(house: House, role: str, way: str) -> None:
    """In a shared session a message waits behind a turn; somebody changes it, or says that it is gone."""
    first, writer = house.member("1", "user"), house.member("2", "other")
    first.says(ASKED, mentions=True)
    await house.member("1", "user").gets_card()
    said: InboundMessage = writer.says("my own words", mentions=True)
    await first.gets("Answer the open request first.")
    before = await state(house)
    source = house.member(IDS[role], role, chat_id=CHAT if role != "stranger" else "-99").source
    if way == "edit":
        update = MessageEdited(id=f"e-{role}", message_id=said.message_id, source=source, text="changed")
    else:
        # Platforms do not say who deleted: they only tell of deletions in the chat where the message stood.
        update = MessageDeleted(id=f"d-{role}", message_id=said.message_id, source=source)  # type: ignore[assignment]
    await house.platform.deliver(update)
    await house.quiet()

    after = await state(house)
    changes = role == "other" if way == "edit" else role != "stranger"
    assert (after != before) == changes


@pytest.mark.req("ACC-5", "SES-1")
@pytest.mark.parametrize(
    ("sessions", "one", "two", "is_shared"),
    [
        ({}, {}, {}, False),
        ({"group": "user"}, {"chat_id": CHAT}, {"chat_id": CHAT}, False),
        ({"group": "shared"}, {"chat_id": CHAT}, {"chat_id": CHAT}, True),
        ({"group": "shared"}, {"chat_id": CHAT}, {"chat_id": "-8"}, False),
        (
            {"thread": "user"},
            {"chat_id": CHAT, "kind": "thread", "thread_id": "5"},
            {"chat_id": CHAT, "kind": "thread", "thread_id": "5"},
            False,
        ),
        (
            {"thread": "shared"},
            {"chat_id": CHAT, "kind": "thread", "thread_id": "5"},
            {"chat_id": CHAT, "kind": "thread", "thread_id": "5"},
            True,
        ),
        (
            {"thread": "shared"},
            {"chat_id": CHAT, "kind": "thread", "thread_id": "5"},
            {"chat_id": CHAT, "kind": "thread", "thread_id": "6"},
            False,
        ),
    ],
)
async def test_what_one_said_and_was_granted_reaches_the_other_only_where_they_share_a_session(
    house_of: Open,
    sessions: dict[str, str],
    one: dict[str, str],
    two: dict[str, str],
    is_shared: bool,
) -> None:
    house = await house_of(sessions=sessions)
    ann = house.member("1", "Ann", **one) if one else house.person("1", "Ann")
    bob = house.member("2", "Bob", **two) if two else house.person("2", "Bob")
    house.model.then(
        calls(("lab__count", {"word": "plum"})), says("noted"), calls(("lab__count", {})), says("no idea")
    )
    ann.says("the word is plum", mentions=True)
    await ann.gets_card()
    await ann.presses("This session")
    await ann.gets("noted")
    bob.says("what is the word", mentions=True)
    await bob.gets("Only Bob may answer")  # a grant is its person's, also in a shared session
    await bob.presses("Deny")
    await bob.gets("no idea")
    bob.says("/grants")
    await bob.gets("You granted nothing.")
    await house.quiet()

    asked = [each for each in house.model.asked if "what is the word" in each.question]
    assert len(asked) == 2
    for each in asked:
        assert ("plum" in str(each.lines)) == is_shared
        assert "plum" not in each.system
    events = (
        await house.daemon.api.events(1, owner="memory:2"),
        await house.daemon.api.events(1, owner="memory:1"),
    )
    assert events[0] is None
    assert events[1] is not None
    if ann.source.chat_id != bob.source.chat_id:
        assert not [text for text in bob.sees() if "plum" in text]
