"""Who may be written into an access list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gateway.config.values import AccessEntry

ENTRY = TypeAdapter(AccessEntry)


@pytest.mark.parametrize("entry", ["123", "chat:-1001234567890", "role:77", "*", "U012AB3CD", "chat:C0A1"])
def test_ids_chats_roles_and_everybody_are_taken(entry):
    assert ENTRY.validate_python(entry) == entry


@pytest.mark.req("ACC-1")
@pytest.mark.parametrize(
    "name", ["alice", "@alice", "Alice", "ALICE", "chat:friends", "role:admin", "", "12 3", "1*", "user:1"]
)
def test_a_name_is_refused_with_the_way_to_find_the_id(problems, name):
    # C99b
    (problem,) = problems(f"access: {{allow: {{telegram: ['{name}']}}}}")

    assert problem == (
        f"config.yaml:1: access.allow.telegram[0] '{name}' is no id, and names are not accepted because anybody "
        'can take one; write a user id (the bot tells it to strangers), "chat:" or "role:" with an id, or "*" '
        "for everybody"
    )


@given(st.from_regex(r"[a-z][a-z ._-]*", fullmatch=True))
def test_no_word_in_small_letters_is_ever_an_entry(name):
    with pytest.raises(ValidationError):
        ENTRY.validate_python(name)


@given(st.integers())
def test_every_number_is_kept_as_its_text(number):
    assert ENTRY.validate_python(number) == str(number)


@pytest.mark.parametrize("entry", ["chat:1", "*", "alice"])
def test_only_users_can_be_admins(problems, entry):
    (problem,) = problems(f"access: {{admins: {{telegram: ['{entry}']}}}}")

    assert "is no user id" in problem


def test_an_approver_is_named_with_the_platform(load, problems):
    assert load("approvals: {approvers: ['telegram:5']}").approvals.approvers == ("telegram:5",)
    assert problems("approvals: {approvers: [5]}") == [
        "config.yaml:1: approvals.approvers[0] '5' does not say whose id it is; write platform:id"
    ]
    assert problems("approvals: {approvers: ['telegrm:5']}") == [
        (
            "config.yaml:1: approvals.approvers[0] names the platform 'telegrm', which does not exist; "
            "did you mean telegram?"
        )
    ]


def test_a_platform_without_a_section_may_be_named(load):
    assert load("access: {allow: {terminal: ['*']}}").access.allow == {"terminal": ("*",)}
