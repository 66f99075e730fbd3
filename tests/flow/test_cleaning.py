"""What is old is forgotten by its kind, what is open never; and a turn's events are read from any offset."""

import os
from pathlib import Path

import pytest

from gateway.cleaner import Cleaner, Retention
from gateway.document import text_document
from gateway.messages import Target
from gateway.store import outbox, retention, schema
from gateway.store.outbox import Draft, dest_of
from gateway.store.sqlite import open_database
from gateway.store.tx import Tx
from tests.flow.conftest import Open
from tests.flow.house import House

DAY = 86_400


def _cleaner(house: House) -> Cleaner:
    return Cleaner(
        house.database,
        Retention(),
        results=house.folder / "state" / "results",
        clock=house.clock,
    )


@pytest.mark.req("OPS-12")
async def test_what_is_old_goes_by_its_kind_and_answers_stay(house: House) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    ann.says("use count {}")
    await ann.presses("Once", await ann.gets_card())
    await ann.gets("returned: run 1")
    await house.quiet()
    cleaner = _cleaner(house)

    house.clock.pass_by(days=13)
    assert set((await cleaner.clean()).values()) == {0}
    house.clock.pass_by(days=2)
    assert await cleaner.clean() == {
        "inbox": 3,
        "events": 0,
        "outbox": 0,
        "dead_letters": 0,
        "buttons": 0,
        "told": 0,
        "usage": 0,
        "results": 0,
    }
    house.clock.pass_by(days=16)
    removed = await cleaner.clean()
    assert {name: count > 0 for name, count in removed.items()} == {
        "inbox": False,
        "events": True,
        "outbox": True,
        "dead_letters": False,
        "buttons": True,
        "told": False,
        "usage": False,
        "results": False,
    }
    for table in ("inbox", "turn_events", "turn_messages", "outbox", "buttons"):
        assert await house.values(f"SELECT COUNT(*) FROM {table}") == [0]
    assert await house.values("SELECT body FROM messages WHERE role = 'question' ORDER BY id") == [
        "plum",
        "use count {}",
    ]
    ann.says("what did I say")
    await ann.gets("You said: what did I say")


@pytest.mark.req("OPS-12")
async def test_nothing_that_is_open_is_forgotten_however_old(house_of: Open) -> None:
    house = await house_of(approvals={"timeout_s": 31_000_000}, delivery={"max_age_s": 31_000_000})
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    ann.says("and then?")
    await house.quiet()
    nowhere = Target(platform="memory", account="another", chat_id="9")
    waits = Draft(target=nowhere, kind="text", body=text_document("later"), idem_key="k")
    await house.database.write(lambda tx: outbox.add(tx, waits, 0))
    results = house.folder / "state" / "results"
    results.mkdir(parents=True)
    for name in ("call_1_a.txt", "call_77_a.txt", "other.bin"):
        (results / name).write_text("x")
        os.utime(results / name, (0, 0))
    house.clock.pass_by(days=200)

    removed = await _cleaner(house).clean()

    assert (removed["events"], removed["buttons"], removed["inbox"]) == (0, 0, 0)
    assert [path.name for path in results.iterdir()] == ["call_1_a.txt"]
    assert await house.values("SELECT COUNT(*) FROM outbox WHERE dest = :dest", dest=dest_of(nowhere)) == [1]
    await ann.presses("Once", card)
    await ann.gets("returned: run 1")
    await ann.gets("You said: and then?")


@pytest.mark.req("OPS-12", "DLV-6")
async def test_dead_letters_are_kept_longer_than_what_was_sent(house: House) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    await house.database.write(
        lambda tx: tx.run("UPDATE outbox SET state = 'failed', error = 'too old: nobody was there'")
    )
    cleaner = _cleaner(house)
    house.clock.pass_by(days=89)
    assert (await cleaner.clean())["dead_letters"] == 0
    house.clock.pass_by(days=2)
    assert (await cleaner.clean())["dead_letters"] == 1


@pytest.mark.req("OPS-12")
async def test_a_large_backlog_goes_in_bounded_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cleaner.PAUSE_S", 0)
    sizes: list[int] = []
    forget = retention.forget_inbox

    def noted(tx: Tx, before_ms: int, most: int) -> int:
        sizes.append(forget(tx, before_ms, most))
        return sizes[-1]

    monkeypatch.setattr("gateway.store.retention.forget_inbox", noted)
    database = await open_database(tmp_path / "parley.db")
    await database.write(lambda tx: schema.migrate(tx, 0))
    await database.write(
        lambda tx: tx.run_many(
            "INSERT INTO inbox (platform, account, update_key, received_at, became)"
            " VALUES ('memory', 'bot', :key, 0, 'ignored')",
            [{"key": f"k{number}"} for number in range(1_234)],
        )
    )
    removed = await Cleaner(database, Retention(), results=tmp_path / "results").clean()
    await database.close()
    assert removed["inbox"] == 1_234
    assert sizes == [500, 500, 234, 0]


@pytest.mark.req("OPS-12")
async def test_the_daemon_cleans_at_its_start(house: House, tmp_path: Path) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    house.clock.pass_by(days=40)
    await house.restart()
    await house.until("SELECT 1 FROM turns WHERE pruned_at IS NOT NULL")
    await house.until("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM outbox)")


@pytest.mark.req("EVT-2")
async def test_events_are_read_from_any_offset_without_a_gap_or_a_repeat_over_a_restart(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    await house.quiet()
    api = house.daemon.api
    first = await api.events(1, 0)
    assert first is not None
    assert (first.status, first.pruned, first.answer) == ("waiting", False, "")
    assert first.events[0].kind == "meta"
    nothing = await api.events(1, first.next_offset)
    assert nothing is not None
    assert (nothing.events, nothing.next_offset) == ((), first.next_offset)

    await house.restart()
    await ann.presses("Once", card)
    await ann.gets("returned: run 1")
    await house.quiet()
    api = house.daemon.api
    rest, whole = await api.events(1, first.next_offset), await api.events(1, -5)
    assert rest is not None
    assert whole is not None
    assert (*first.events, *rest.events) == whole.events
    assert (rest.status, rest.next_offset) == ("done", whole.next_offset)
    assert whole.next_offset == len(await house.events(1))
    assert {event.kind for event in whole.events}.isdisjoint({"model_response", "checkpoint", "tool_result"})
    assert whole.events[-1].kind == "done"


@pytest.mark.req("EVT-2")
async def test_of_a_pruned_turn_its_answer_is_left_and_of_an_unknown_or_foreign_one_nothing(
    house: House,
) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    house.clock.pass_by(days=40)
    await _cleaner(house).clean()
    api = house.daemon.api

    page = await api.events(1, 3, owner="memory:1")

    assert page is not None
    assert (page.status, page.pruned, page.events, page.next_offset) == ("done", True, (), 3)
    assert page.answer.startswith("You said: plum")
    assert await api.events(99, 0) is None
    assert await api.events(1, 0, owner="memory:2") is None


@pytest.mark.req("OPS-12")
async def test_strangers_unused_codes_and_what_was_used_are_forgotten_and_who_was_let_in_is_not(
    house_of: Open,
) -> None:
    house = await house_of(access={"allow": {"memory": ["1"]}})
    ann, bob, eve = house.person("1", "Ann"), house.person("2", "Bob"), house.person("666", "Eve")
    ann.says("plum")
    await ann.gets("You said: plum")
    eve.says("let me in")
    await eve.gets("This bot is private.")
    bob.says("me, too")
    told = await bob.gets("This bot is private.")
    code = told.text.split("within an hour: ")[1].split(" ")[0]
    assert (await house.daemon.trust.approve_pairing(code)).done
    await house.quiet()
    cleaner = _cleaner(house)

    house.clock.pass_by(days=89)
    removed = await cleaner.clean()
    assert (removed["told"], removed["usage"]) == (0, 0)
    house.clock.pass_by(days=2)
    assert (await cleaner.clean())["told"] == 1
    assert await house.values("SELECT state FROM pairings") == ["paired"]
    house.clock.pass_by(days=320)
    assert (await cleaner.clean())["usage"] == 2
    for table in ("usage", "turn_usage"):
        assert await house.values(f"SELECT COUNT(*) FROM {table}") == [0]
    bob.says("still here")
    await bob.gets("You said: still here")
