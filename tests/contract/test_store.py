"""One suite over every store: what a lane, a turn, a request and a message to show may and may not do.

`store` opens an empty, migrated database of each engine; a further engine adds one line to `ENGINES`. PostgreSQL is
tried wherever it is installed, see `tests/postgres.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.document import text_document
from gateway.errors import Fenced
from gateway.messages import Button, Target
from gateway.session_store import ResetPolicy, Session, SessionStore, reset
from gateway.store import inbox, lanes, memory, messages, outbox, pairings, requests, reviews, schema, turns
from gateway.store.lanes import Fence, Head
from gateway.store.outbox import SHOWN_AGAIN, Claimed, Draft, NotYet, dest_of, target_of
from gateway.store.postgres import open_postgres
from gateway.store.sqlite import open_database
from gateway.store.turns import Claim, StoredEvent, TurnInputRow
from gateway.store.tx import Store, Tx
from tests.postgres import find_programs

HERE = Target(platform="memory", account="bot", chat_id="1")
DEST = dest_of(HERE)
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MS = int(NOW.timestamp() * 1000)


@asynccontextmanager
async def _sqlite(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    database = await open_database(request.getfixturevalue("tmp_path") / "parley.db")
    yield database
    await database.close()


@asynccontextmanager
async def _postgres(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    database = await open_postgres(request.getfixturevalue("postgres").make_database())
    yield database
    await database.close()


ENGINES: dict[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Store]]] = {
    "sqlite": _sqlite,
    **({"postgres": _postgres} if find_programs() else {}),
}


@pytest.fixture(params=ENGINES)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    async with ENGINES[request.param](request) as database:
        await database.write(lambda tx: schema.migrate(tx, MS))
        yield database


def session_of(tx: Tx, key: str = "lane", now: datetime = NOW, **policy: Any) -> Session:
    return SessionStore(ResetPolicy(**policy)).get_or_create(
        tx, key=key, target=HERE, subject="memory:1", now=now
    )


def say(
    tx: Tx, text: str = "hello", *, key: str = "lane", requester: str = "memory:1"
) -> tuple[int, Head | None]:
    session = session_of(tx, key)
    return turns.append(
        tx,
        lane_id=session.lane.id,
        session_id=session.id,
        requester=requester,
        agent="default",
        kind="message",
        given=TurnInputRow(text=text),
        message_id=None,
        now_ms=MS,
    )


def claim(tx: Tx, lane_id: int = 1) -> Claim:
    claimed = turns.claim(tx, lane_id, "node", MS)
    assert claimed is not None
    return claimed


def keep(tx: Tx, claimed: Claim, said: list[str]) -> None:
    turns.add_history(tx, claimed, said)


def end(tx: Tx, claimed: Claim) -> Head | None:
    return turns.end(tx, claimed.fence, state="done", error=None, ran_ms=0, now_ms=MS)


def is_active(tx: Tx, lane_id: int = 1) -> bool:
    row = tx.row("SELECT active FROM lanes WHERE id = :id", id=lane_id)
    assert row is not None
    return bool(row["active"])


def ask(tx: Tx, claimed: Claim, call_id: str = "0.0", *, expires_at: int | None = None) -> int:
    request_id = requests.open_request(
        tx,
        turn_id=claimed.turn_id,
        lane_id=claimed.fence.lane_id,
        call_id=call_id,
        kind="approval",
        requester="memory:1",
        args_hash="h",
        prompt="{}",
        now_ms=MS,
        expires_at=expires_at,
    )
    turns.park(tx, claimed.fence, ran_ms=5, now_ms=MS)
    return request_id


def events(*kinds: str, start: int = 0) -> list[StoredEvent]:
    return [StoredEvent(idx=idx, kind=kind, payload="{}") for idx, kind in enumerate(kinds, start=start)]


class TestInbox:
    @pytest.mark.req("DLV-1")
    async def test_a_key_is_taken_once_per_account(self, store: Store) -> None:
        def remember(tx: Tx, account: str) -> bool:
            return inbox.remember(tx, platform="memory", account=account, key="u1", became="turn", now_ms=MS)

        taken = [await store.write(lambda tx, a=account: remember(tx, a)) for account in "aab"]
        assert taken == [True, False, True]

    @pytest.mark.req("DLV-1")
    async def test_twenty_simultaneous_repeats_of_one_key_have_one_winner(self, store: Store) -> None:
        def remember(tx: Tx) -> bool:
            return inbox.remember(tx, platform="m", account="a", key="k", became="turn", now_ms=MS)

        won = await asyncio.gather(*(store.write(remember) for _ in range(20)))
        assert sorted(won) == [False] * 19 + [True]

    @pytest.mark.req("ACC-1")
    async def test_a_stranger_is_to_be_told_once_per_account(self, store: Store) -> None:
        def tell(tx: Tx, user: str, account: str) -> bool:
            return pairings.tell_once(tx, platform="m", account=account, user_id=user, now_ms=MS)

        told = [
            await store.write(lambda tx, u=user, a=account: tell(tx, u, a))
            for user, account in (("1", "a"), ("1", "a"), ("2", "a"), ("1", "b"))
        ]
        assert told == [True, False, True, True]


class TestSessions:
    @pytest.mark.req("SES-1")
    async def test_missing_is_made_and_then_reused(self, store: Store) -> None:
        first = await store.write(session_of)
        second = await store.write(session_of)

        assert (first.is_new, first.expired) == (True, False)
        assert second == replace(first, is_new=False, lane=replace(first.lane, session_id=first.id))

    @pytest.mark.req("SES-1")
    async def test_fifty_at_once_make_one_session(self, store: Store) -> None:
        made = await asyncio.gather(*(store.write(session_of) for _ in range(50)))

        assert {session.id for session in made} == {1}
        assert sum(session.is_new for session in made) == 1

    @pytest.mark.req("SES-1", "SES-2")
    @pytest.mark.parametrize("has_content", [False, True])
    async def test_expired_is_ended_and_a_new_one_begins(self, store: Store, has_content: bool) -> None:
        await store.write(say if has_content else session_of)
        if has_content:
            await store.write(lambda tx: end(tx, claim(tx)))
        later = NOW + timedelta(hours=25)
        fresh = await store.write(lambda tx: session_of(tx, now=later))

        assert (fresh.id, fresh.is_new, fresh.expired) == (2, True, has_content)
        row = await store.read(lambda tx: tx.row("SELECT ended_at, end_reason FROM sessions WHERE id = 1"))
        assert row is not None
        assert (row["ended_at"], row["end_reason"]) == (int(later.timestamp() * 1000), "expired")

    @pytest.mark.req("SES-2")
    @pytest.mark.parametrize("state", ["queued", "running", "waiting", "ready"])
    async def test_none_expires_while_a_turn_is_open(self, store: Store, state: str) -> None:
        await store.write(say)
        if state != "queued":
            claimed = await store.write(claim)
        if state == "waiting":
            await store.write(lambda tx: ask(tx, claimed))
        if state == "ready":
            await store.write(lambda tx: turns.hand_back(tx, claimed.fence, ran_ms=0, now_ms=MS))

        assert (await store.write(lambda tx: session_of(tx, now=NOW + timedelta(days=9)))).id == 1

    @pytest.mark.req("SES-1", "MEM-2")
    async def test_the_baseline_of_a_persons_memory_is_set_with_the_first_message_and_kept(
        self, store: Store
    ) -> None:
        await store.write(session_of)
        await store.write(lambda tx: session_of(tx, key="other", now=NOW + timedelta(days=9)))

        rows = await store.read(lambda tx: tx.rows("SELECT subject, extract_from FROM memory_baselines"))
        assert [tuple(row) for row in rows] == [("memory:1", MS)]

    @pytest.mark.req("SES-1")
    async def test_a_turn_that_runs_over_a_reset_belongs_to_the_old_session(self, store: Store) -> None:
        await store.write(say)
        claimed = await store.write(claim)
        await store.write(lambda tx: reset(tx, lanes.get(tx, 1), reason="reset", now_ms=MS))
        await store.write(lambda tx: keep(tx, claimed, ["old"]))
        await store.write(lambda tx: end(tx, claimed))
        await store.write(say)

        assert (await store.write(claim)).history == ()
        kept = await store.read(lambda tx: tx.rows("SELECT session_id, message FROM agent_state"))
        assert [tuple(row) for row in kept] == [(1, "old")]


class TestLanes:
    @pytest.mark.req("QUE-1")
    async def test_a_message_kicks_exactly_if_the_lane_was_not_active(self, store: Store) -> None:
        heads = [(await store.write(say))[1] for _ in range(3)]
        assert heads == [Head(lane_id=1, requester="memory:1", resumed=False), None, None]

        for _ in range(3):
            await store.write(lambda tx: end(tx, claim(tx)))
        assert not await store.read(is_active)
        assert (await store.write(say))[1] is not None

    @pytest.mark.req("QUE-1")
    async def test_of_many_messages_at_once_to_a_new_lane_one_kicks_and_all_have_their_place(
        self, store: Store
    ) -> None:
        said = await asyncio.gather(*(store.write(say) for _ in range(30)))

        assert sum(head is not None for _, head in said) == 1
        seqs = await store.read(
            lambda tx: [row["seq"] for row in tx.rows("SELECT seq FROM turns ORDER BY id")]
        )
        assert seqs == list(range(1, 31))

    @pytest.mark.req("QUE-1")
    async def test_only_the_head_runs_and_the_end_names_the_next(self, store: Store) -> None:
        ids = [(await store.write(say))[0] for _ in range(2)]
        first = await store.write(claim)
        assert first.turn_id == ids[0]

        following = await store.write(lambda tx: end(tx, first))
        assert following == Head(lane_id=1, requester="memory:1", resumed=False)
        second = await store.write(claim)
        assert second.turn_id == ids[1]
        assert await store.write(lambda tx: end(tx, second)) is None
        assert not await store.read(is_active)

    @pytest.mark.req("QUE-1", "QUE-5")
    async def test_behind_a_waiting_head_nothing_runs_and_nothing_kicks(self, store: Store) -> None:
        await store.write(say)
        await store.write(lambda tx: ask(tx, claim(tx)))
        _, head = await store.write(say)

        assert head is None
        assert await store.read(lanes.runnable) == []
        assert await store.write(lambda tx: turns.claim(tx, 1, "node", MS)) is None
        assert await store.read(is_active)

    @pytest.mark.req("QUE-1")
    async def test_a_lane_whose_queued_turns_are_dropped_rests_and_is_kicked_by_the_next(
        self, store: Store
    ) -> None:
        await store.write(say)
        await store.write(say)
        assert await store.write(lambda tx: turns.drop_queued(tx, 1, MS)) == 2

        assert not await store.read(is_active)
        assert (await store.write(say))[1] is not None

    @pytest.mark.req("QUE-1")
    async def test_dropping_what_waits_leaves_what_runs(self, store: Store) -> None:
        await store.write(say)
        await store.write(say)
        claimed = await store.write(claim)
        assert await store.write(lambda tx: turns.drop_queued(tx, 1, MS)) == 1

        assert await store.read(is_active)
        assert await store.write(lambda tx: end(tx, claimed)) is None

    @pytest.mark.req("QUE-1", "EVT-3")
    async def test_a_start_finds_every_head_that_may_run_oldest_first(self, store: Store) -> None:
        for key in ("queued", "running", "waiting", "ready", "done", "empty"):
            await store.write(lambda tx, k=key: say(tx, key=k) if k != "empty" else session_of(tx, k))
        await store.write(lambda tx: say(tx, key="queued"))
        running, waiting, ready, done = [
            await store.write(lambda tx, n=n: claim(tx, n)) for n in (2, 3, 4, 5)
        ]
        await store.write(lambda tx: ask(tx, waiting))
        await store.write(lambda tx: turns.hand_back(tx, ready.fence, ran_ms=0, now_ms=MS))
        await store.write(lambda tx: end(tx, done))

        heads = await store.read(lanes.runnable)
        assert [(head.lane_id, head.resumed) for head in heads] == [(1, False), (2, True), (4, True)]
        assert running.attempt == 1

    @pytest.mark.req("QUE-7")
    async def test_who_was_told_that_a_lane_is_full_is_forgotten_with_the_next_turn(
        self, store: Store
    ) -> None:
        await store.write(session_of)
        for person in ("memory:2", "memory:1", "memory:2"):
            await store.write(lambda tx, p=person: lanes.say_full(tx, lanes.get(tx, 1), p))
        assert (await store.read(lambda tx: lanes.get(tx, 1))).full_told == {"memory:1", "memory:2"}

        await store.write(say)
        assert (await store.read(lambda tx: lanes.get(tx, 1))).full_told == frozenset()


class TestTurns:
    @pytest.mark.req("EVT-3", "QUE-1")
    @pytest.mark.parametrize("write", ["events", "park", "hand_back", "end"])
    async def test_a_stale_runner_writes_nothing(self, store: Store, write: str) -> None:
        await store.write(say)
        stale = await store.write(claim)
        fresh = await store.write(claim)
        assert fresh.fence == Fence(lane_id=1, turn_id=stale.turn_id, epoch=stale.fence.epoch + 1)
        late: dict[str, Callable[[Tx], object]] = {
            "events": lambda tx: turns.append_events(tx, stale.fence, events("text"), MS),
            "park": lambda tx: ask(tx, stale),
            "hand_back": lambda tx: turns.hand_back(tx, stale.fence, ran_ms=0, now_ms=MS),
            "end": lambda tx: end(tx, stale),
        }

        with pytest.raises(Fenced):
            await store.write(late[write])

        rows = await store.read(lambda tx: tx.rows("SELECT state FROM turns"))
        assert [row["state"] for row in rows] == ["running"]
        assert await store.read(lambda tx: turns.events_of(tx, stale.turn_id)) == ()
        assert await store.read(lambda tx: requests.pending_of_turn(tx, stale.turn_id)) == []

    @pytest.mark.req("EVT-1", "EVT-2")
    async def test_events_are_read_from_any_number_on_in_order(self, store: Store) -> None:
        await store.write(say)
        claimed = await store.write(claim)
        await store.write(lambda tx: turns.append_events(tx, claimed.fence, events("meta", "text"), MS))
        assert await store.read(lambda tx: turns.next_idx(tx, claimed.turn_id)) == 2
        await store.write(lambda tx: turns.append_events(tx, claimed.fence, events("done", start=2), MS))

        for start in range(5):
            found = await store.read(lambda tx, n=start: turns.events_of(tx, claimed.turn_id, n))
            assert [(each.idx, each.kind) for each in found] == [(0, "meta"), (1, "text"), (2, "done")][
                start:
            ]

    @pytest.mark.req("EVT-1")
    async def test_a_number_is_given_once(self, store: Store) -> None:
        await store.write(say)
        claimed = await store.write(claim)
        await store.write(lambda tx: turns.append_events(tx, claimed.fence, events("text"), MS))

        with pytest.raises(Exception, match=r"UNIQUE|duplicate key"):
            await store.write(lambda tx: turns.append_events(tx, claimed.fence, events("text"), MS))

    @pytest.mark.req("EVT-3")
    async def test_attempts_count_what_was_begun_and_only_without_progress(self, store: Store) -> None:
        await store.write(say)
        attempts: list[int] = []

        async def run(*done: tuple[str, str]) -> None:
            claimed = await store.write(claim)
            attempts.append(claimed.attempt)
            stored = [
                StoredEvent(idx=len(claimed.events) + number, kind=kind, payload=payload)
                for number, (kind, payload) in enumerate(done)
            ]
            await store.write(lambda tx: turns.append_events(tx, claimed.fence, stored, MS))

        a_send = ("checkpoint", '{"name":"A"}')
        await run()  # killed before it did anything
        await run()
        await run(a_send, ("status", "{}"))
        await run(a_send)
        await run(a_send, ("model_response", "{}"), ("tool_started", '{"call_id":"0.0"}'))
        await run(("tool_started", '{"call_id":"0.0"}'))  # once more, as it is read-only
        await run(("tool_result", "{}"))
        await run()

        assert attempts == [1, 1, 1, 2, 3, 1, 2, 1]

    @pytest.mark.req("EVT-3")
    async def test_a_send_that_is_cut_while_the_model_speaks_is_a_third_of_an_attempt(
        self, store: Store
    ) -> None:
        await store.write(say)
        attempts: list[int] = []
        for words in (0, 1, 2, 1, 1, 1, 1, 0):
            claimed = await store.write(claim)
            attempts.append(claimed.attempt)
            kinds = ["checkpoint", *["text"] * words]
            stored = [
                StoredEvent(idx=len(claimed.events) + at, kind=kind, payload='{"name":"A"}')
                for at, kind in enumerate(kinds)
            ]
            await store.write(lambda tx, c=claimed, s=stored: turns.append_events(tx, c.fence, s, MS))

        assert attempts == [1, 2, 2, 2, 3, 3, 3, 4]

    @pytest.mark.req("OPS-4")
    async def test_a_turn_handed_back_is_resumed_as_its_first_attempt_with_the_time_it_ran(
        self, store: Store
    ) -> None:
        await store.write(say)
        claimed = await store.write(claim)
        assert await store.write(lambda tx: turns.hand_back(tx, claimed.fence, ran_ms=70, now_ms=MS))

        resumed = await store.write(claim)
        assert (resumed.attempt, resumed.ran_ms) == (1, 70)

    @pytest.mark.req("OPS-4")
    @pytest.mark.parametrize("last", ["end", "park"])
    async def test_what_has_ended_or_waits_is_not_handed_back(self, store: Store, last: str) -> None:
        await store.write(say)
        claimed = await store.write(claim)
        await store.write(lambda tx: end(tx, claimed) if last == "end" else ask(tx, claimed))

        assert not await store.write(lambda tx: turns.hand_back(tx, claimed.fence, ran_ms=0, now_ms=MS))

    @pytest.mark.req("AGT-9")
    async def test_a_stop_is_kept_until_the_turn_is_run_again_and_the_first_reason_stays(
        self, store: Store
    ) -> None:
        turn_id, _ = await store.write(say)
        claimed = await store.write(claim)
        await store.write(lambda tx: ask(tx, claimed))
        woken = await store.write(lambda tx: turns.ask_to_stop(tx, turn_id, "stop", MS))
        again = await store.write(lambda tx: turns.ask_to_stop(tx, turn_id, "reset", MS))

        assert (woken, again) == (Head(lane_id=1, requester="memory:1", resumed=True), None)
        assert (await store.write(claim)).stop == "stop"

    async def test_a_turn_set_aside_frees_its_lane_for_the_next(self, store: Store) -> None:
        first, _ = await store.write(say)
        await store.write(say)
        await store.write(claim)

        found, head = await store.write(lambda tx: turns.set_aside(tx, 1, error="damaged", now_ms=MS))
        assert (found, head) == (first, Head(lane_id=1, requester="memory:1", resumed=False))

    @pytest.mark.req("SES-4")
    @pytest.mark.req("CTX-1")
    async def test_what_is_replaced_in_a_history_keeps_its_place_and_what_is_new_follows(
        self, store: Store
    ) -> None:
        await store.write(lambda tx: say(tx, "a"))
        claimed = await store.write(claim)
        await store.write(lambda tx: keep(tx, claimed, ["1", "2", "3", "4", "5"]))
        again = await store.write(claim)
        await store.write(lambda tx: turns.replace_history(tx, again, start=1, stop=4, instead=["S"]))
        await store.write(lambda tx: turns.add_history(tx, again, ["6", "7"], mixed=True))
        third = await store.write(claim)
        assert third.history == ("1", "S", "5", "6", "7")
        mixed = await store.read(
            lambda tx: tx.rows("SELECT message FROM agent_state WHERE mixed = 1 ORDER BY seq")
        )
        assert [row["message"] for row in mixed] == ["S", "6", "7"]
        await store.write(lambda tx: turns.replace_history(tx, third, start=0, stop=5, instead=()))
        await store.write(lambda tx: turns.add_history(tx, third, ["T"]))
        assert (await store.write(claim)).history == ("T",)

    async def test_history_is_kept_per_session_and_agent_in_order(self, store: Store) -> None:
        for text in ("a", "b"):
            await store.write(say)
            claimed = await store.write(claim)
            await store.write(lambda tx, c=claimed, t=text: keep(tx, c, [t + "1", t + "2"]))
            other = replace(claimed, agent="other")
            await store.write(lambda tx, c=other: keep(tx, c, ["elsewhere"]))
            await store.write(lambda tx, c=claimed: end(tx, c))
        await store.write(say)

        assert (await store.write(claim)).history == ("a1", "a2", "b1", "b2")

    @pytest.mark.req("SES-4")
    async def test_a_transcript_ties_each_answer_to_its_question(self, store: Store) -> None:
        await store.write(session_of)

        def add(tx: Tx, role: Any, turn_id: int) -> int:
            return messages.add(
                tx, session_id=1, turn_id=turn_id, role=role, author="x", body=role, now_ms=MS
            )

        for turn_id in (1, 2):
            for role in ("question", "tool", "answer"):
                await store.write(lambda tx, r=role, t=turn_id: add(tx, r, t))
        lines = await store.read(lambda tx: messages.transcript(tx, 1))

        assert [(line.role, line.question_id) for line in lines] == [
            ("question", None),
            ("tool", 1),
            ("answer", 1),
            ("question", None),
            ("tool", 4),
            ("answer", 4),
        ]


class TestRequests:
    @pytest.mark.req("APR-4")
    async def test_the_first_of_many_answers_wins_and_wakes_the_turn_once(self, store: Store) -> None:
        await store.write(say)
        request_id = await store.write(lambda tx: ask(tx, claim(tx)))

        def answer(tx: Tx, state: Any) -> tuple[bool, Head | None]:
            won = requests.decide(tx, request_id, state=state, by="A", reason=None, now_ms=MS)
            return won, turns.unpark(tx, 1, MS) if won else None

        answers = await asyncio.gather(
            *(store.write(lambda tx, s=state: answer(tx, s)) for state in ("denied", *["approved"] * 9))
        )

        assert answers == [(True, Head(lane_id=1, requester="memory:1", resumed=True))] + [(False, None)] * 9
        settled = await store.read(lambda tx: requests.get(tx, request_id))
        assert settled is not None
        assert (settled.state, settled.decided_by, settled.decided_at) == ("denied", "A", MS)

    @pytest.mark.req("APR-4")
    async def test_a_button_leads_to_its_request_and_choice(self, store: Store) -> None:
        await store.write(say)
        request_id = await store.write(lambda tx: ask(tx, claim(tx)))
        for token, choice in (("t1", "once"), ("t2", "deny")):
            await store.write(
                lambda tx, t=token, c=choice: requests.add_button(
                    tx, token=t, request_id=request_id, choice=c
                )
            )

        found = await store.read(lambda tx: [requests.by_token(tx, token) for token in ("t1", "t2", "t3")])
        request = await store.read(lambda tx: requests.get(tx, request_id))
        assert found == [(request, "once"), (request, "deny"), None]

    @pytest.mark.req("APR-7")
    async def test_what_is_due_is_pending_and_past_its_time(self, store: Store) -> None:
        await store.write(say)
        await store.write(lambda tx: ask(tx, claim(tx), expires_at=MS + 100))

        due = [await store.read(lambda tx, n=now: len(requests.due(tx, n))) for now in (MS + 99, MS + 100)]
        assert due == [0, 1]
        await store.write(lambda tx: requests.decide(tx, 1, state="closed", by="", reason=None, now_ms=MS))
        assert await store.read(lambda tx: requests.due(tx, MS + 999)) == []
        assert await store.read(lambda tx: requests.pending_in(tx, 1)) is None

    @pytest.mark.req("APR-6")
    async def test_one_call_is_asked_about_once_and_its_newest_request_counts(self, store: Store) -> None:
        await store.write(say)
        claimed = await store.write(claim)
        await store.write(lambda tx: ask(tx, claimed, "0.0"))
        with pytest.raises(Exception, match=r"UNIQUE|duplicate key"):
            await store.write(lambda tx: ask(tx, claimed, "0.0"))
        other = await store.write(lambda tx: ask(tx, claimed, "0.1"))

        found = await store.read(lambda tx: requests.of_call(tx, claimed.turn_id, "0.1"))
        assert found is not None
        assert found.id == other


def draft(text: str = "x", **changes: Any) -> Draft:
    return Draft(**{"target": HERE, "kind": "text", "body": text_document(text), "idem_key": text, **changes})


async def post(store: Store, *drafts: Draft) -> list[int | None]:
    return [await store.write(lambda tx, d=each: outbox.add(tx, d, MS)) for each in drafts]


async def take(store: Store, dest: str = DEST, now_ms: int = MS, **bounds: Any) -> Claimed | NotYet | None:
    return await store.write(lambda tx: outbox.claim(tx, dest, now_ms, **bounds))


async def settle(store: Store, row_id: int, state: Any = "sent", message_id: str | None = "m") -> None:
    await store.write(
        lambda tx: outbox.settle(tx, row_id, state=state, platform_msg_id=message_id, now_ms=MS)
    )


async def states(store: Store) -> list[tuple[str, str | None]]:
    rows = await store.read(lambda tx: tx.rows("SELECT state, error FROM outbox ORDER BY id"))
    return [(row["state"], row["error"]) for row in rows]


class TestOutbox:
    @pytest.mark.req("DLV-6")
    async def test_rows_of_a_destination_are_taken_in_order_and_marked_before_they_are_sent(
        self, store: Store
    ) -> None:
        message = draft(
            "a", buttons=((Button(label="L", token="t", style="good"),),), reply_to="7", turn_id=1
        )
        await post(store, message, draft("b"))
        first = await take(store)

        assert isinstance(first, Claimed)
        assert (first.id, first.attempts, first.turn_id, first.edits) == (1, 1, 1, None)
        assert (first.message.target, first.message.body) == (HERE, text_document("a"))
        assert (first.message.buttons, first.message.reply_to) == (message.buttons, "7")
        assert [state for state, _ in await states(store)] == ["sending", "queued"]

    @pytest.mark.req("DLV-6")
    async def test_a_part_of_a_turn_is_queued_once(self, store: Store) -> None:
        ids = await post(
            store,
            draft("a", turn_id=1, part="r0.0"),
            draft("b", turn_id=1, part="r0.0"),
            draft("c", turn_id=2, part="r0.0"),
        )
        assert [row is not None for row in ids] == [True, False, True]

    @pytest.mark.req("DLV-6")
    async def test_a_row_to_be_tried_again_holds_up_those_after_it(self, store: Store) -> None:
        await post(store, draft("a"), draft("b"))
        await take(store)
        await store.write(lambda tx: outbox.retry(tx, 1, at_ms=MS + 500, error="busy"))

        assert await take(store) == NotYet(at_ms=MS + 500)
        again = await take(store, now_ms=MS + 500)
        assert isinstance(again, Claimed)
        assert (again.id, again.attempts, again.message.idem_key) == (1, 2, "a")

    @pytest.mark.req("DLV-6")
    async def test_a_pause_and_a_gone_mark_concern_one_destination(self, store: Store) -> None:
        there = Target(platform="memory", account="bot", chat_id="1", thread_id="9")
        await post(store, draft("a"), draft("b", target=there))
        await store.write(lambda tx: outbox.pause(tx, DEST, MS, MS + 500))
        await store.write(lambda tx: outbox.mark_gone(tx, dest_of(there), "kicked"))

        assert await take(store) == NotYet(at_ms=MS + 500)
        assert await take(store, dest_of(there)) is None
        assert await states(store) == [("queued", None), ("failed", "kicked")]
        await store.write(lambda tx: outbox.mark_back(tx, there))
        await post(store, draft("c", target=there))
        assert isinstance(await take(store, dest_of(there)), Claimed)

    @pytest.mark.req("DLV-6")
    async def test_what_waited_too_long_is_a_dead_letter(self, store: Store) -> None:
        await post(store, draft("a"))

        assert await take(store, now_ms=MS + 3_600_001, max_age_ms=3_600_000) is None
        assert await states(store) == [("failed", "too old: it waited longer than 1 hours")]

    @pytest.mark.req("DLV-5")
    async def test_a_newer_edit_replaces_an_unsent_older_one(self, store: Store) -> None:
        await post(store, draft("card", kind="card"))
        await take(store)
        await settle(store, 1, message_id="77")
        await post(store, draft("e1", kind="edit", edits=1), draft("e2", kind="edit", edits=1))
        taken = await take(store)

        assert isinstance(taken, Claimed)
        assert (taken.id, taken.edits, taken.message.body) == (3, "77", text_document("e2"))
        assert (await states(store))[1] == ("failed", "superseded")

    @pytest.mark.req("DLV-5")
    @pytest.mark.parametrize("fate", ["failed", "unknown"])
    async def test_edits_of_what_never_certainly_arrived_are_dropped_however_many(
        self, store: Store, fate: Any
    ) -> None:
        await post(store, draft("card", kind="card"))
        await take(store)
        await settle(store, 1, fate, None)
        await post(store, draft("edit", kind="edit", edits=1))
        more = [
            {"row": row, "n": n} for row, first in ((1, 10), (2, 2_000)) for n in range(first, first + 1_200)
        ]
        await store.write(
            lambda tx: tx.run_many(
                "INSERT INTO outbox (dest, dest_seq, kind, payload, idem_key, edits, state, created_at)"
                " SELECT dest, :n, kind, payload, CAST(:n AS TEXT), edits, state, created_at"
                " FROM outbox WHERE id = :row",
                more,
            )
        )
        await store.write(lambda tx: tx.run("UPDATE destinations SET next_seq = 9000"))
        await post(store, draft("last"))
        taken = await take(store)
        assert isinstance(taken, Claimed)
        assert taken.message.idem_key == "last"

    @pytest.mark.req("DLV-7")
    async def test_what_a_dead_process_was_sending_is_found(self, store: Store) -> None:
        await post(store, draft("a", turn_id=4), draft("b"))
        await take(store)

        assert await store.read(outbox.interrupted) == [(1, DEST, "text", 4)]
        assert await store.read(lambda tx: outbox.open_dests(tx, "memory", "bot")) == [DEST]
        assert await store.read(lambda tx: outbox.open_dests(tx, "memory", "other")) == []

    @pytest.mark.req("DLV-7")
    async def test_unknown_rows_are_listed_until_they_are_shown_again_and_never_hold_up_others(
        self, store: Store
    ) -> None:
        await post(store, draft("a"), draft("b"))
        await take(store)
        await settle(store, 1, "unknown", None)

        assert isinstance(await take(store), Claimed)
        assert await store.read(lambda tx: outbox.unknown(tx, DEST)) == [1]
        letter = await store.read(lambda tx: outbox.letter(tx, 1))
        assert letter is not None
        assert (letter.message.idem_key, letter.kind, letter.is_unknown) == ("a", "text", True)
        assert await store.write(lambda tx: outbox.close_letter(tx, 1, SHOWN_AGAIN))
        assert not await store.write(lambda tx: outbox.close_letter(tx, 1, SHOWN_AGAIN))
        assert await store.read(lambda tx: outbox.unknown(tx, DEST)) == []

    @pytest.mark.req("DLV-4")
    async def test_a_row_without_its_markup_keeps_all_else(self, store: Store) -> None:
        await post(store, draft("a", reply_to="7"))
        await take(store)
        await store.write(lambda tx: outbox.strip_markup(tx, 1))
        taken = await take(store)

        assert isinstance(taken, Claimed)
        assert (taken.message.plain, taken.message.reply_to, taken.attempts) == (True, "7", 2)

    @pytest.mark.req("OPS-6")
    @pytest.mark.parametrize("damage", ["", "{", "[]", '{"body": 5}'])
    async def test_a_damaged_row_fails_alone(self, store: Store, damage: str) -> None:
        await post(store, draft("a"), draft("b"))
        await store.write(lambda tx: tx.run("UPDATE outbox SET payload = :p WHERE id = 1", p=damage))
        taken = await take(store)

        assert isinstance(taken, Claimed)
        assert taken.id == 2
        assert (await states(store))[0] == ("failed", "unreadable")

    @pytest.mark.parametrize(
        "target",
        [
            HERE,
            Target(platform="a:b", account='"', chat_id="-1", thread_id=""),
            Target(platform="a", account="b", chat_id="é", thread_id="1"),
        ],
    )
    def test_a_destinations_name_leads_back_to_its_target(self, target: Target) -> None:
        assert target_of(dest_of(target)) == target


class TestSchema:
    @pytest.mark.req("OPS-6")
    async def test_migrating_again_changes_nothing(self, store: Store) -> None:
        version = await store.write(lambda tx: schema.migrate(tx, MS + 1))
        rows = await store.read(lambda tx: tx.rows("SELECT version, applied_at FROM schema_version"))

        assert [tuple(row) for row in rows] == [(number, MS) for number in range(1, version + 1)]

    @pytest.mark.req("OPS-6")
    async def test_a_newer_releases_database_is_refused(self, store: Store) -> None:
        await store.write(
            lambda tx: tx.run("INSERT INTO schema_version (version, applied_at) VALUES (999, 0)")
        )
        with pytest.raises(Exception, match="install a newer release"):
            await store.write(lambda tx: schema.migrate(tx, MS))


@pytest.mark.req("MEM-2", "ACC-5")
async def test_facts_are_found_by_their_words_and_by_nobody_else(store: Store) -> None:
    facts = {
        "m:1": ["Has two cats.", "Loves spicy food.", "Grows tomatoes in Zürich.", "我喜欢猫"],
        "m:2": ["Has a cat allergy."],
    }
    for subject, texts in facts.items():
        for text in texts:
            assert await store.write(
                lambda tx, s=subject, t=text: memory.add(tx, s, t, source="agent", now_ms=1)
            )
    assert not await store.write(lambda tx: memory.add(tx, "m:1", "has TWO cats.", source="review", now_ms=2))

    async def found(subject: str, words: str) -> list[str]:
        return [fact.text for fact in await store.read(lambda tx: memory.search(tx, subject, words, 8))]

    assert await found("m:1", "Which cat?") == ["Has two cats."]
    assert await found("m:2", "Which cat?") == ["Has a cat allergy."]
    assert await found("m:3", "Which cat?") == []
    assert await found("m:1", "tomato OR 'x' NEAR(food) -spicy*") == [
        *await found("m:1", "spicy food"),
        *await found("m:1", "tomato"),
    ]
    assert await found("m:1", "喜欢什么") == ["我喜欢猫"]
    assert await found("m:1", "?!") == []


@pytest.mark.req("MEM-2", "ACC-5")
async def test_a_fact_is_forgotten_by_its_owner_only_and_the_oldest_go_when_there_are_too_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MOST_FACTS", 2)
    for text, source in [("one", "agent"), ("two", "review"), ("three", "review")]:
        await store.write(lambda tx, t=text, s=source: memory.add(tx, "m:1", t, source=s, now_ms=1))
    kept = await store.read(lambda tx: memory.newest(tx, "m:1", 9))
    assert [fact.text for fact in kept] == ["three", "one"]
    numbers = [fact.id for fact in kept]
    assert await store.write(lambda tx: memory.remove(tx, "m:2", numbers)) == 0
    assert await store.write(lambda tx: memory.remove(tx, "m:1", [*numbers, *numbers, 99])) == 2
    assert await store.read(lambda tx: memory.search(tx, "m:1", "one three", 9)) == []


@pytest.mark.req("TSK-4")
async def test_what_is_counted_during_a_review_is_left_for_the_next(store: Store) -> None:
    await store.write(lambda tx: reviews.count(tx, "memory", "m:1", "default", 3))
    (due,) = await store.read(lambda tx: reviews.due(tx, "memory", 3))
    await store.write(lambda tx: reviews.count(tx, "memory", "m:1", "other", 1))
    await store.write(lambda tx: reviews.done(tx, due))
    left = await store.read(lambda tx: reviews.due(tx, "memory", 1))
    assert left == [reviews.Due(kind="memory", subject="m:1", agent="other", n=1)]
    assert await store.read(lambda tx: reviews.due(tx, "memory", 2)) == []
