"""What is remembered of a person: kept over conversations, theirs alone, found in the background, never in the way."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, calls, says

pytestmark = pytest.mark.req("MEM-2")

CATS, SPICE = "Has two cats called Tim and Tom.", "Loves spicy food."


async def remember(house: House, person: Person, *facts: str) -> None:
    house.model.then(calls(*(("remember", {"fact": fact}) for fact in facts)), says("noted"))
    person.says("keep this")
    await person.gets("noted")
    await house.quiet()


async def known(house: House, user: str = "memory:1") -> list[str]:
    return await house.values("SELECT text FROM memory WHERE subject = :user ORDER BY id", user=user)


def asked_about(house: House, question: str) -> str:
    """The system prompt of the first request that answers this question."""
    return next(each.system for each in house.model.asked if each.question == question)


@pytest.mark.req("AGT-11", "SES-1")
async def test_what_was_remembered_is_in_the_next_conversation_of_that_person(house: House) -> None:
    ann = house.person()
    await remember(house, ann, CATS, SPICE)
    ann.says("/new")
    ann.says("hello again")
    await house.quiet()

    system = asked_about(house, "hello again")
    assert f"- {SPICE}\n- {CATS}" in system
    head = asked_about(house, "keep this").partition("\n\nYou are in")[0]
    assert system.startswith(head)
    assert system.index(head) < system.index(CATS) < system.index("You are in a chat with Ann")


@pytest.mark.req("ACC-5")
async def test_nobody_sees_another_persons_memory(house: House) -> None:
    ann, bob = house.person(), house.person("2", "Bob")
    await remember(house, ann, CATS)
    number = (await house.values("SELECT id FROM memory"))[0]
    house.model.then(
        calls(("recall", {"words": "cats Tim"}), ("recall", {"words": ""})), says("nothing there")
    )
    bob.says("what about cats called Tim and Tom?")
    await bob.gets("nothing there")
    house.model.then(calls(("forget", {"numbers": [number]})), says("tried"))
    bob.says("forget it")
    await bob.presses("Once", await bob.gets_card())
    await bob.gets("tried")
    await house.quiet()

    bobs = [each for each in house.model.asked if each.question != "keep this"]
    assert not any("Tom" in each.system for each in bobs)
    results = [text for who, text in bobs[-1].lines if who in {"success", "failed"}]
    assert results == ["Nothing is known of the user yet."] * 2 + ["Forgot 0 of 1."]
    assert await known(house) == [CATS]


@pytest.mark.req("ACC-5", "SRC-3")
async def test_nothing_of_anybodys_memory_comes_into_a_conversation_of_several(house_of: Open) -> None:
    house = await house_of(
        sessions={"group": "shared"}, access={"allow": {"memory": ["*"]}, "groups": "always"}
    )
    await remember(house, house.person(), CATS)
    ann = house.member()
    house.model.then(calls(("recall", {"words": "cats"})), says("not here"))
    ann.says("which cats have I?")
    await ann.gets("not here")
    await remember(house, ann, SPICE)

    group = [each for each in house.model.asked if each.question.startswith("[Ann#1]")]
    assert not any(CATS in each.system + str(each.lines) for each in group)
    assert await known(house) == [CATS, SPICE]


async def test_older_facts_that_fit_the_question_are_brought_in(house: House) -> None:
    ann = house.person()
    await remember(house, ann, CATS, *(f"Read book number {n}." for n in range(25)))
    ann.says("what are my cats called?")
    ann.says("hmm?")
    await house.quiet()

    assert f"Notes that may matter now:\n- {CATS}" in asked_about(house, "what are my cats called?")
    assert CATS not in asked_about(house, "hmm?")


@pytest.mark.req("APR-3")
async def test_forgetting_asks_and_is_for_good(house: House) -> None:
    ann = house.person()
    await remember(house, ann, CATS, SPICE)
    number = (await house.values("SELECT id FROM memory ORDER BY id"))[0]
    house.model.then(
        calls(("recall", {"words": "cat"})), calls(("forget", {"numbers": [number]})), says("gone")
    )
    ann.says("forget my cats")
    await ann.presses("Once", await ann.gets_card())
    await ann.gets("gone")
    await house.quiet()

    assert ("success", f"Found:\n{number}. {CATS}") in house.model.asked[-1].lines
    assert await known(house) == [SPICE]
    assert await house.values("SELECT COUNT(*) FROM memory_words WHERE memory_words MATCH 'cats'") == [0]


@pytest.mark.req("TSK-4")
async def test_every_few_turns_a_persons_words_are_looked_through_in_the_background(house_of: Open) -> None:
    house = await house_of(memory={"review_every": 2})
    ann, bob = house.person(), house.person("2", "Bob")
    bob.says("I have a dog")
    await house.quiet()
    house.model.then(says("ok"), says("fine"), says(json.dumps({"facts": [CATS]})))
    ann.says("I have two cats")
    await ann.gets("ok")
    ann.says("they are Tim and Tom")
    await ann.gets("fine")
    await house.until("SELECT 1 FROM review_counts WHERE subject = 'memory:1' AND n = 0")

    review = house.model.asked[-1]
    assert review.tools == ()
    assert "> I have two cats\n> they are Tim and Tom" in review.question
    assert "dog" not in str(review.lines)
    assert await known(house) == [CATS]
    assert await known(house, "memory:2") == []
    assert await house.values("SELECT body FROM messages WHERE body LIKE '%facts%'") == []


@pytest.mark.req("TSK-4", "OPS-4")
async def test_a_review_delays_no_reply_is_cancelled_by_a_stop_and_made_again(house_of: Open) -> None:
    house = await house_of(memory={"review_every": 1}, shutdown={"drain_s": 0})
    ann = house.person()
    hangs = Gate()
    house.model.then(says("ok"), hangs, says("fine"))
    ann.says("I have two cats")
    await ann.gets("ok")
    await hangs.reached()
    ann.says("hello")
    await ann.gets("fine")
    await house.stop()

    house.model.then(says(json.dumps({"facts": [CATS]})))
    await house.start()
    await house.until("SELECT 1 FROM review_counts WHERE subject = 'memory:1' AND n = 0")
    assert await known(house) == [CATS]
    assert "> I have two cats\n> hello" in house.model.asked[-1].question


@pytest.mark.req("TSK-4")
async def test_a_model_that_chats_instead_has_found_nothing_and_is_not_asked_again_for_it(
    house_of: Open,
) -> None:
    house = await house_of(memory={"review_every": 1})
    ann = house.person()
    house.model.then(says("ok"), says(f"Sure! I remember: {CATS}"))
    ann.says("I have two cats")
    await house.until("SELECT 1 FROM review_counts WHERE subject = 'memory:1' AND n = 0")
    assert await known(house) == []
    assert await house.values("SELECT read_to > 0 FROM memory_baselines") == [1]


@pytest.mark.req("TSK-4", "ACC-4")
async def test_what_looks_like_a_secret_is_not_kept(house_of: Open) -> None:
    house = await house_of(memory={"review_every": 1})
    ann = house.person()
    house.model.then(says("ok"), says(json.dumps({"facts": ["Uses sk-abcdefghijklmnopqrstuvwx.", SPICE]})))
    ann.says("hello")
    await house.until("SELECT 1 FROM review_counts WHERE subject = 'memory:1' AND n = 0")
    assert await known(house) == [SPICE]


@pytest.mark.req("TSK-4")
async def test_after_enough_tool_rounds_a_skill_is_proposed_and_not_used(house_of: Open) -> None:
    house = await house_of(memory={"review_every": 2}, approvals={"allow": ["lab/*"]})
    ann = house.person()
    skill = {"name": "count-twice", "description": "When counting.", "steps": "Count, then count again."}
    once = calls(("lab__count", {}))
    house.model.then(once, once, says("done"), says(json.dumps({"skill": skill})))
    ann.says("count twice")
    await ann.gets("done")
    await house.until("SELECT 1 FROM review_counts WHERE kind = 'skills' AND n = 0")

    (draft,) = (house.folder / "state" / "skill-drafts").glob("*/*/SKILL.md")
    assert draft.parent.relative_to(house.folder / "state") == Path("skill-drafts/default/count-twice")
    assert draft.read_text("utf-8").startswith('---\nname: count-twice\ndescription: "When counting."\n---\n')
    ann.says("and now?")
    await house.quiet()
    assert "count-twice" not in house.model.asked[-1].system


async def test_the_baseline_is_set_with_the_first_message_and_an_existing_one_is_kept(house: House) -> None:
    ann = house.person()
    ann.says("first")
    await house.quiet()
    rows = await house.rows(
        "SELECT extract_from, (SELECT MIN(at) FROM messages WHERE author = subject) AS first FROM memory_baselines"
    )
    assert rows[0]["extract_from"] <= rows[0]["first"]
    house.clock.pass_by(hours=30)
    ann.says("second")
    await house.quiet()
    after = await house.values("SELECT extract_from FROM memory_baselines")
    assert after == [rows[0]["extract_from"]]


@pytest.mark.req("SES-5")
async def test_memory_is_handed_out_and_erased_with_the_person(house: House) -> None:
    ann, bob = house.person(), house.person("2", "Bob")
    await remember(house, ann, CATS)
    await remember(house, bob, SPICE)
    exported = await house.daemon.trust.export_person("memory:1")
    assert [row["text"] for row in exported["memory"]] == [CATS]

    for person in ("memory%3A1", "memory%3A2"):
        (house.folder / "state" / "workspaces" / person).mkdir(parents=True)
    await house.daemon.trust.erase_person("memory:1")
    assert [each.name for each in (house.folder / "state" / "workspaces").iterdir()] == ["memory%3A2"]
    assert (await known(house), await known(house, "memory:2")) == ([], [SPICE])
    assert await house.values("SELECT COUNT(*) FROM memory_words WHERE memory_words MATCH 'cats'") == [0]
    assert await house.values("SELECT subject FROM review_counts WHERE kind = 'memory'") == ["memory:2"]


PACKAGE = """
class Elsewhere:
    def __init__(self, needs):
        self.needs, self.log = needs, []
        open(needs.settings["log"], "a").write("made\\n")
    def _note(self, words):
        open(self.needs.settings["log"], "a").write(words + "\\n")
    def why_not(self):
        return "" if self.needs.settings.get("key") else "memory.settings.key is missing"
    async def initialize(self, who):
        self._note(f"initialize {who.user}")
    def tools(self):
        return ()
    async def prompt_block(self, who):
        return f"Elsewhere knows {who.user}."
    async def prefetch(self, who, question):
        if question == "break":
            raise RuntimeError("elsewhere is down")
        return ""
    async def on_turn_start(self, who, question): ...
    async def sync_turn(self, who, question, answer):
        self._note(f"sync {question} -> {answer}")
    async def on_session_end(self, who):
        self._note(f"session end {who.user}")
    async def shutdown(self):
        self._note("shutdown")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that offers a provider; returns the file it notes its calls in."""
    folder = tmp_path / "site"
    info = folder / "elsewhere_memory-1.dist-info"
    info.mkdir(parents=True)
    (folder / "elsewhere_memory.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere-memory\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[parley.memory_providers]\nelsewhere = elsewhere_memory:Elsewhere\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "elsewhere_memory", raising=False)
    return tmp_path / "calls.log"


@pytest.mark.req("MEM-1")
async def test_a_package_offers_a_provider_and_lives_through_its_whole_life(
    house_of: Open, package: Path
) -> None:
    house = await house_of(memory={"provider": "elsewhere", "settings": {"key": "k", "log": str(package)}})
    ann = house.person()
    house.model.then(says("hello"))
    ann.says("hi")
    await ann.gets("hello")
    assert "Elsewhere knows memory:1." in house.model.asked[-1].system
    ann.says("/new")
    await house.quiet()
    house.model.then(says("without it"))
    ann.says("break")
    await ann.gets("without it")
    ann.says("/status")
    await ann.gets("Memory elsewhere: RuntimeError: elsewhere is down")
    await house.stop()

    lines = (await asyncio.to_thread(package.read_text)).splitlines()
    assert lines == [
        "made",
        "initialize memory:1",
        "sync hi -> hello",
        "session end memory:1",
        *lines[4:-1],
        "shutdown",
    ]
    assert lines[4:-1] in (["initialize memory:1"], [])


@pytest.mark.req("MEM-1", "OPS-7")
async def test_a_provider_that_misses_something_is_skipped_and_says_so(house_of: Open, package: Path) -> None:
    house = await house_of(memory={"provider": "elsewhere", "settings": {"log": str(package)}})
    ann = house.person()
    ann.says("hi")
    await house.quiet()
    assert "Elsewhere" not in house.model.asked[-1].system
    ann.says("/status")
    await ann.gets("Memory elsewhere: memory.settings.key is missing")
