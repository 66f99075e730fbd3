"""Turns that wait in their lane: one suite over every store."""

from dataclasses import replace

import pytest

from gateway.document import text_document
from gateway.errors import Fenced
from gateway.messages import Target
from gateway.store import lanes, moves, outbox, pending, turns
from gateway.store.inputs import Part, TurnInputRow
from gateway.store.lanes import Fence, Head
from gateway.store.outbox import Claimed, Draft, dest_of
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from tests.contract.test_store import DEST, HERE, MS, session_of, store

__all__ = ["store"]  # the fixture

ANN, BOB = "memory:1", "memory:2"


def say(
    tx: Tx,
    text: str,
    *,
    requester: str = ANN,
    gathers: str | None = None,
    at_ms: int | None = None,
    steers: bool = False,
) -> int:
    session = session_of(tx)
    part = Part(message_id=f"m-{text}", text=text)
    turn_id, _ = turns.append(
        tx,
        lane_id=session.lane.id,
        session_id=session.id,
        requester=requester,
        agent="default",
        kind="message",
        given=TurnInputRow(text="").with_parts([part]),
        message_id=part.message_id,
        now_ms=MS,
        gathers=gathers,
        not_before_ms=at_ms,
        steers=steers,
    )
    pending.register(tx, HERE, part.message_id, turn_id=turn_id, line_id=turn_id)
    return turn_id


def claim(tx: Tx, now_ms: int = MS) -> Claim | Head | None:
    return turns.claim(tx, 1, "node", now_ms)


class TestGathering:
    @pytest.mark.req("QUE-8")
    async def test_a_turn_is_not_claimed_before_its_time_and_its_head_says_when(self, store: Store) -> None:
        await store.write(lambda tx: say(tx, "long", gathers="text", at_ms=MS + 1_000))
        expected = Head(lane_id=1, requester=ANN, resumed=False, not_before_ms=MS + 1_000)
        assert await store.write(claim) == expected
        assert await store.read(lanes.runnable) == [expected]
        assert isinstance(await store.write(lambda tx: claim(tx, MS + 1_000)), Claim)

    @pytest.mark.req("QUE-8", "OPS-9")
    async def test_a_time_that_only_a_wrong_clock_can_have_set_holds_nothing_up(self, store: Store) -> None:
        await store.write(lambda tx: say(tx, "long", gathers="text", at_ms=MS + 3_600_000))
        assert isinstance(await store.write(claim), Claim)

    @pytest.mark.req("QUE-8")
    async def test_a_text_is_joined_only_by_the_next_words_of_the_same_person(self, store: Store) -> None:
        def work(tx: Tx) -> tuple[bool, bool, bool]:
            say(tx, "long", gathers="text", at_ms=MS + 1_000)
            first = pending.gathering(tx, 1, ANN, "text")
            others = pending.gathering(tx, 1, BOB, "text")
            say(tx, "short")
            return first is not None, others is not None, pending.gathering(tx, 1, ANN, "text") is not None

        assert await store.write(work) == (True, False, False)

    @pytest.mark.req("QUE-8")
    async def test_a_flush_lets_the_head_run(self, store: Store) -> None:
        await store.write(lambda tx: say(tx, "long", gathers="text", at_ms=MS + 1_000))
        flushed = await store.write(lambda tx: (pending.flush(tx, 1), pending.flush(tx, 1)))
        assert flushed == (Head(lane_id=1, requester=ANN, resumed=False), None)
        assert isinstance(await store.write(claim), Claim)


class TestChanges:
    @pytest.mark.req("ADP-7")
    async def test_what_was_claimed_meanwhile_is_not_rewritten(self, store: Store) -> None:
        turn_id = await store.write(lambda tx: say(tx, "plim"))

        def rewrite(tx: Tx) -> bool:
            return pending.rewrite(tx, turn_id, TurnInputRow(text="plum"), gathers=None, not_before_ms=None)

        assert await store.write(rewrite)
        claimed = await store.write(claim)
        assert isinstance(claimed, Claim)
        assert claimed.input.text == "plum"
        assert not await store.write(rewrite)

    @pytest.mark.req("ADP-7")
    async def test_a_message_is_found_by_its_place_and_id_only(self, store: Store) -> None:
        turn_id = await store.write(lambda tx: say(tx, "plum"))

        def find(target: Target, message_id: str = "m-plum") -> int | None:
            return found.turn.id if (found := pending.find(tx_of[0], target, message_id)) else None

        tx_of: list[Tx] = []

        def work(tx: Tx) -> list[int | None]:
            tx_of[:] = [tx]
            return [
                find(HERE),
                find(replace(HERE, account="other")),
                find(replace(HERE, chat_id="2")),
                find(HERE, "m-pear"),
            ]

        assert await store.read(work) == [turn_id, None, None, None]

    @pytest.mark.req("ADP-7")
    async def test_edits_wait_for_a_turn_that_runs_the_newest_of_each_message(self, store: Store) -> None:
        turn_id = await store.write(lambda tx: say(tx, "plum"))
        claimed = await store.write(claim)
        assert isinstance(claimed, Claim)

        def edits(tx: Tx) -> list[bool]:
            return [
                pending.say_newer(tx, turn_id, message, text)
                for message, text in (("a", "1"), ("b", "2"), ("a", "3"))
            ]

        assert await store.write(edits) == [True] * 3
        heard, _ = await store.write(lambda tx: pending.hear(tx, claimed.fence, ANN, MS))
        again, _ = await store.write(lambda tx: pending.hear(tx, claimed.fence, ANN, MS))
        assert (heard, again) == ({"a": "3", "b": "2"}, {})
        await store.write(
            lambda tx: turns.end(tx, claimed.fence, state="done", error=None, ran_ms=0, now_ms=MS)
        )
        assert await store.write(lambda tx: pending.say_newer(tx, turn_id, "a", "4")) is False

    @pytest.mark.req("ADP-7")
    async def test_a_dropped_turn_frees_an_empty_lane(self, store: Store) -> None:
        await store.write(lambda tx: say(tx, "plum"))

        def work(tx: Tx) -> object:
            turn = pending.head(tx, 1)
            assert turn is not None
            pending.drop(tx, turn, "deleted", MS)
            row = tx.row("SELECT active FROM lanes")
            assert row is not None
            return pending.head(tx, 1), row["active"]

        assert await store.write(work) == (None, 0)


class TestSteering:
    @pytest.mark.req("QUE-2")
    async def test_a_running_turn_takes_over_what_is_meant_for_it_in_order_and_once(
        self, store: Store
    ) -> None:
        def lane(tx: Tx) -> None:
            say(tx, "first")
            say(tx, "one", steers=True)
            say(tx, "of another", requester=BOB, steers=True)
            say(tx, "two", steers=True)
            say(tx, "grows", steers=True, gathers="text", at_ms=MS + 1_000)
            say(tx, "overtakes nothing", steers=True)

        await store.write(lane)
        claimed = await store.write(claim)
        assert isinstance(claimed, Claim)
        assert await store.read(lambda tx: pending.has_to_hear(tx, claimed.fence, ANN, MS))
        _, taken = await store.write(lambda tx: pending.hear(tx, claimed.fence, ANN, MS))
        _, again = await store.write(lambda tx: pending.hear(tx, claimed.fence, ANN, MS))
        assert [turn.input.text for turn in taken] == ["one", "two"]
        assert not again
        states = await store.read(
            lambda tx: [row["state"] for row in tx.rows("SELECT state FROM turns ORDER BY id")]
        )
        assert states == ["running", "merged", "queued", "merged", "queued", "queued"]

    @pytest.mark.req("QUE-2")
    async def test_a_runner_that_lost_its_lane_takes_nothing_over(self, store: Store) -> None:
        await store.write(lambda tx: (say(tx, "first"), say(tx, "one", steers=True)))
        await store.write(claim)
        old = Fence(lane_id=1, turn_id=1, epoch=0)
        with pytest.raises(Fenced):
            await store.write(lambda tx: pending.hear(tx, old, ANN, MS))
        assert await store.read(lambda tx: pending.has_to_hear(tx, old, ANN, MS))


class TestMoves:
    @pytest.mark.req("ADP-2", "DLV-6")
    async def test_rows_keep_their_order_and_edits_never_hit_the_new_chats_messages(
        self, store: Store
    ) -> None:
        def draft(text: str, edits: int | None = None) -> Draft:
            return Draft(target=HERE, kind="text", body=text_document(text), idem_key=text, edits=edits)

        def before(tx: Tx) -> None:
            shown = outbox.add(tx, draft("shown"), MS)
            assert shown is not None
            claimed = outbox.claim(tx, DEST, MS)
            assert isinstance(claimed, Claimed)
            outbox.settle(tx, shown, state="sent", now_ms=MS, platform_msg_id="5")
            for text in ("one", "two"):
                outbox.add(tx, draft(text), MS)
            outbox.add(tx, draft("changed", edits=shown), MS)
            moves.move_chat(tx, HERE, "-100")
            outbox.add(tx, draft("three"), MS)
            moves.move_chat(tx, HERE, "-100")  # told again

        new = dest_of(replace(HERE, chat_id="-100"))

        def sent(tx: Tx) -> list[tuple[str, str]]:
            found = []
            while isinstance(item := outbox.claim(tx, new, MS), Claimed):
                found.append((item.message.idem_key, item.message.target.chat_id))
                outbox.settle(tx, item.id, state="sent", now_ms=MS, platform_msg_id="9")
            return found

        await store.write(before)
        assert await store.write(sent) == [("one", "-100"), ("two", "-100"), ("three", "-100")]
        assert await store.write(lambda tx: outbox.claim(tx, DEST, MS)) is None
        assert await store.read(moves.moved) == [(HERE, "-100")]
