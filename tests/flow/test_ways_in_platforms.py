"""Every way into each real adapter, tried by everybody, against the running daemon: one table a platform.

A way in is a message (direct, in a listed and in an unlisted group), a reply, an edit, a forwarded message, a slash
command or a button, by socket or polling and by HTTP. Everybody is a stranger, a listed user, another one, a named
approver, an admin, and a bot. `test_ways_in` asks more of the same of the memory adapter.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.errors import ProviderRefused
from gateway.store.inputs import TurnInputRow
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House
from tests.flow.scripted import says
from tests.flow.streets import ROLES, STREETS, Street

pytestmark = pytest.mark.req("ACC-1", "ACC-2", "APR-5")

LISTED = {"user", "other", "admin"}
BEGINS: dict[str, set[str]] = {
    "direct": LISTED,
    "in a listed group": set(ROLES),  # a listed group admits its members
    "in an unlisted group": {"admin"},
    "reply in an unlisted group": {"admin"},
    "edit": set(),
    "command in an edit": set(),
    "forward": LISTED,
    "bot": set(),
}
"""Whose words begin a turn, by the way they come in."""

ORDERS = (("approve", ""), ("deny", "no"), ("stop", ""), ("new", ""), ("grants", "revoke 1"), ("retry", ""))


@dataclass(slots=True, kw_only=True)
class Town:
    """A daemon on one platform; `sent` counts the updates of people, each of which leaves its key."""

    street: Street
    house: House
    sent: int = 0
    said: dict[str, Any] = field(default_factory=dict)
    passed_on: Any = None

    async def arrived(self) -> None:
        """Wait until all that was sent is settled, and nothing is left to do."""
        platform = self.street.platform
        async with asyncio.timeout(WAIT_S * 2):
            while True:
                (known,) = await self.house.values(
                    "SELECT COUNT(*) FROM inbox WHERE platform = :platform", platform=platform
                )
                if known >= self.sent:
                    break
                await moment(self.house)
        assert known == self.sent
        await self.house.quiet()

    async def begun(self, way: str) -> set[str]:
        """Who has a turn with words that came in this way."""
        rows = await self.house.rows("SELECT requester, input FROM turns")
        by_id = {self.street.who(role): role for role in ROLES}
        return {
            by_id.get(row["requester"], "bot")
            for row in rows
            if f"({way})" in TurnInputRow.from_json(row["input"]).text
        }

    async def state(self) -> dict[str, list[object]]:
        return {
            "requests": await self.house.values("SELECT state FROM requests ORDER BY id"),
            "grants": await self.house.values("SELECT id FROM grants WHERE revoked_at IS NULL"),
            "switches": await self.house.values("SELECT name FROM switches"),
            "asked": await self.house.values(
                "SELECT state FROM turns WHERE requester = :who ORDER BY id", who=self.street.who("user")
            ),
            "runs": list(self.house.lab.runs),
        }


@pytest.fixture(params=STREETS)
async def town(
    request: pytest.FixtureRequest, house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Town]:
    monkeypatch.setattr("adapters.slack.adapter.SEND_GAP_S", 0.0)
    make_street, make_stage = STREETS[request.param]
    async with make_stage() as stage:
        street = make_street(stage)
        house = await house_of(
            others=[stage.adapter],
            access=street.access,
            approvals={"approvers": [street.who("approver")]},
            queue={"gather_s": 0},
        )
        await online(house)
        yield Town(street=street, house=house)
        await house.stop()


async def online(house: House) -> None:
    """Wait until every adapter hears: what is said before may be none of a new bot's business."""
    async with asyncio.timeout(WAIT_S):
        while not (health := house.daemon._supervisor.health) or any(h.trouble for h in health.values()):
            await moment(house)


async def moment(house: House) -> None:
    """Until something was delivered, or for a moment: not everything that is waited for is told of."""
    with suppress(TimeoutError):
        await asyncio.wait_for(house.daemon._delivery.pulse.next(), 0.02)


async def words(town: Town) -> None:
    street = town.street
    for role in ROLES:
        town.said[role] = street.direct(role, f"(direct) {role}")
        street.mention(role, street.listed, f"(in a listed group) {role}")
        street.mention(role, street.unlisted, f"(in an unlisted group) {role}")
    town.passed_on = street.mention("admin", street.unlisted, "(forward) this")
    town.sent += 3 * len(ROLES) + 1
    town.sent += street.bot_speaks("(bot) hello")
    await town.arrived()


async def replies_edits_and_forwards(town: Town) -> None:
    street = town.street
    answer, *_ = await street.sim.wait_for_replies(street.unlisted, 1)
    for role in ROLES:
        street.reply(role, answer, street.unlisted, f"(reply in an unlisted group) {role}")
        street.forward(role, town.passed_on)
    town.sent += 2 * len(ROLES)
    await town.arrived()
    for role in ROLES:
        street.sim.edit(town.said[role], f"(edit) {role}")
    town.sent += len(ROLES)
    await town.arrived()
    for role in ROLES:
        street.sim.edit(town.said[role], "/pause")
    town.sent += len(ROLES)
    await town.arrived()


async def card(town: Town) -> Any:
    """The user asks for a tool in the listed group, where everybody sees the card."""
    street = town.street
    street.mention("user", street.listed, "use count {}")
    town.sent += 1
    await town.arrived()
    (open_card,) = await street.sim.wait_for(lambda: street.cards(street.listed))
    return open_card


async def turns_of_others(town: Town) -> list[str]:
    """By which ways other people's words became turns than the table says."""
    wrong = []
    for way, begins in BEGINS.items():
        if (found := await town.begun(way)) != begins:
            wrong.append(f"{way}: turns of {sorted(found)}, not of {sorted(begins)}")
    return wrong


async def orders_and_presses_of_others(town: Town) -> list[str]:
    """What changed when others gave orders, or pressed what is not theirs to answer."""
    street, wrong = town.street, []
    open_card = await card(town)
    before = await town.state()
    for role in ROLES:
        orders = ORDERS if role != "user" else ()
        for name, argument in (*orders, *((("pause", ""),) if role not in {"admin", "user"} else ())):
            street.order(role, name, argument)
            town.sent += 1
    await town.arrived()
    if (after := await town.state()) != before:
        wrong.append(f"orders: {after}, not {before}")
    for role in ("stranger", "other"):
        for label in ("Once", "This session", "Always", "Deny"):
            street.press(role, open_card, label)
            town.sent += 1
    await town.arrived()
    if (after := await town.state()) != before:
        wrong.append(f"presses: {after}, not {before}")
    return wrong


async def presses_of_who_may(town: Town) -> list[str]:
    """Who may answer and was not heard; the first card stands open already."""
    wrong = []
    for number, role in enumerate(("approver", "admin", "user"), start=1):
        street = town.street
        (open_card,) = street.cards(street.listed) if number == 1 else (await card(town),)
        street.press(role, open_card, "Once")
        town.sent += 1
        await town.arrived()
        if len(town.house.lab.runs) != number:
            wrong.append(f"press: {role} may answer and nothing ran")
    return wrong


async def test_every_way_in_by_everybody(town: Town) -> None:
    await words(town)
    await replies_edits_and_forwards(town)
    wrong = [
        *await turns_of_others(town),
        *await orders_and_presses_of_others(town),
        *await presses_of_who_may(town),
    ]

    assert wrong == []
    assert await town.house.values("SELECT name FROM switches") == []


@pytest.mark.req("EVT-5", "SES-3")
async def test_a_failure_is_tried_again_and_a_conversation_gone_back_to_by_their_buttons(town: Town) -> None:
    street, house, ann = town.street, town.house, town.street.people["user"]
    house.model.then(ProviderRefused("503"), says("at last"), says("something new"))
    street.direct("user", "first words")
    (failed,) = await street.sim.wait_for(lambda: street.cards(ann))
    assert street.buttons(failed) == ["Retry"]
    assert "reference" in street.shown(failed)
    street.press("user", failed, "Retry")
    town.sent += 2
    await town.arrived()
    await street.sim.wait_for(lambda: any("at last" in street.shown(m) for m in street.sim.replies(ann)))
    assert street.cards(ann) == []

    street.order("user", "new")
    town.sent += 1
    await town.arrived()
    street.direct("user", "second words")
    town.sent += 1
    await town.arrived()
    street.order("user", "sessions")
    town.sent += 1
    (listed,) = await street.sim.wait_for(lambda: street.cards(ann))
    assert "1. second words" in street.shown(listed)
    street.press("user", listed, "2. first words")
    town.sent += 1
    await town.arrived()
    await street.sim.wait_for(
        lambda: any("We are back in: first words" in street.shown(m) for m in street.sim.replies(ann))
    )
    assert await house.values("SELECT end_reason FROM sessions ORDER BY id") == [None, "left"]
