"""What a review believes of a model's answer: exactly what was asked for, bounded, or nothing."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.builtin import LONGEST_FACT
from agent.reviews import MOST_FOUND, SkillDraft, find_facts, find_skill, read_facts, read_skill
from tests.unit.agent.scripted import ScriptedProvider, says, snapshot

pytestmark = pytest.mark.req("TSK-4", "MEM-2")

SKILL = {
    "name": "order-shirts",
    "description": "When somebody wants shirts.",
    "steps": "1. Ask for the size.",
}


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (
            '{"facts": ["Is vegetarian.", " Has\\n two cats. ", "Is vegetarian."]}',
            ("Is vegetarian.", "Has two cats."),
        ),
        ('```json\n{"facts": ["Is vegetarian."]}\n```', ("Is vegetarian.",)),
        ('{"facts": [1, "", null]}', ()),
        (json.dumps({"facts": ["x" * (LONGEST_FACT + 1)]}), ()),
        ("I remember: - Is vegetarian.", ()),
        ('["Is vegetarian."]', ()),
        ("", ()),
    ],
)
def test_facts_are_read_only_from_what_was_asked_for(answer: str, facts: tuple[str, ...]) -> None:
    assert read_facts(answer) == facts


@given(st.text() | st.builds(json.dumps, st.dictionaries(st.text(), st.lists(st.text() | st.integers()))))
def test_any_answer_is_read_without_harm(answer: str) -> None:
    assert len(read_facts(answer)) <= MOST_FOUND
    read_skill(answer)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../up"},
        {"name": "A B"},
        {"name": "a" * 65},
        {"description": ""},
        {"steps": " "},
        {"name": 3},
    ],
)
def test_a_skill_with_a_bad_name_or_without_words_is_none(change: dict[str, object]) -> None:
    assert read_skill(json.dumps({"skill": SKILL})) == SkillDraft(**SKILL)
    assert read_skill(json.dumps({"skill": SKILL | change})) is None
    assert read_skill('{"skill": null}') is None


@given(st.text(min_size=1).filter(lambda text: text.split()))
def test_a_drafts_head_is_what_skills_are_read_by(description: str) -> None:
    draft = read_skill(json.dumps({"skill": SKILL | {"description": description}}))
    if draft is None:
        assert not any(character.isprintable() and not character.isspace() for character in description)
        return
    head = draft.text.removeprefix("---\n").partition("\n---")[0]
    assert yaml.safe_load(head) == {"name": "order-shirts", "description": draft.description}


async def test_a_review_is_one_request_without_tools() -> None:
    provider = ScriptedProvider([says('{"facts": ["Is vegetarian."]}'), says(json.dumps({"skill": SKILL}))])
    snap = snapshot(provider)
    facts, used = await find_facts(snap, ["I eat no meat", "hello"], ["Has two cats."])
    assert (facts, used.requests) == (("Is vegetarian.",), 1)
    draft, used = await find_skill(snap, ["question (m:1): shirts"])
    assert (draft, used.requests) == (SkillDraft(**SKILL), 1)
    assert provider.tools_seen == [(), ()]
    asked = str(provider.seen[0][-1])
    assert "> I eat no meat" in asked
    assert "- Has two cats." in asked
