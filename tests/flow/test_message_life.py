"""Whatever a person says, changes and deletes, and wherever the process dies: each message is heard once, in order."""

import asyncio
import json
import random
import re
from contextlib import suppress

import pytest

from gateway.messages import InboundMessage, MessageDeleted, MessageEdited
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate

pytestmark = pytest.mark.req("QUE-1", "QUE-2", "QUE-8", "ADP-7", "DLV-1")

STEPS = 40
LIMIT = 60


class Story:
    """A random person: every message begins with a word of its own, `w17:`; once edited it reads `e17:`."""

    def __init__(self, house: House, person: Person, seed: int) -> None:
        self.house = house
        self.person = person
        self.dice = random.Random(seed)
        self.said: list[InboundMessage] = []
        self.gates: list[Gate] = []

    async def run(self) -> None:
        steps = [self.say, self.say, self.say, self.edit, self.delete, self.repeat, self.hold, self.let_go]
        for _ in range(STEPS):
            if self.dice.random() < 0.06:
                await self.die()
            else:
                self.dice.choice(steps)()
            if self.dice.random() < 0.4:
                await self.house.platform.wait_received()
            for _ in range(self.dice.randrange(30)):
                await asyncio.sleep(0)
        for gate in self.gates:
            gate.open()
        await self.house.quiet()

    def say(self) -> None:
        filler = "." * self.dice.choice([0, 0, 0, 20, 40])
        work = self.dice.choice(["", "", "\nuse count {}"])
        self.said.append(self.person.says(f"w{len(self.said)}:{filler}{work}"))

    def edit(self) -> None:
        with suppress(IndexError):
            said = self.dice.choice(self.said)
            text = said.text.replace("w", "e", 1)
            self.tell(
                MessageEdited(
                    id=f"{said.id}:e", message_id=said.message_id, source=self.person.source, text=text
                )
            )

    def delete(self) -> None:
        with suppress(IndexError):
            said = self.dice.choice(self.said)
            self.tell(
                MessageDeleted(id=f"{said.id}:d", message_id=said.message_id, source=self.person.source)
            )

    def repeat(self) -> None:
        with suppress(IndexError):
            said = self.dice.choice(self.said)
            self.house.platform.say(said.text, self.person.source, repeat_of=said.id)

    def hold(self) -> None:
        gate = Gate()
        self.gates.append(gate)
        self.house.model.then(gate)

    def let_go(self) -> None:
        if self.gates:
            self.gates.pop(0).open()

    def tell(self, update: MessageEdited | MessageDeleted) -> None:
        self.house.platform.deliver(update)

    async def die(self) -> None:
        await self.house.crash()
        await self.house.start()

    async def heard(self) -> list[str]:
        """The messages' first words as the agent remembers its users, in order."""
        rows = await self.house.values("SELECT message FROM agent_state ORDER BY seq")
        parts = [part for row in rows for part in json.loads(row)["parts"]]
        users = [part["content"] for part in parts if part["part_kind"] == "user-prompt"]
        return [word for text in users for word in re.findall(r"[we]\d+(?=:)", text)]

    async def became(self) -> dict[int, tuple[str, str | None]]:
        """What became of each message, and how its turn ended."""
        rows = await self.house.rows(
            "SELECT i.update_key, i.became, t.state, t.error FROM inbox i LEFT JOIN turns t ON t.id = i.turn_id"
        )
        of_key = {row["update_key"]: (row["became"], row["error"] or row["state"]) for row in rows}
        return {number: of_key[said.id] for number, said in enumerate(self.said)}

    async def parts(self) -> set[str]:
        """The ids of messages that a turn was opened with, or is about."""
        rows = await self.house.values("SELECT input FROM turns")
        return {part[0] for row in rows for part in json.loads(row)["parts"]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", ["queue", "collect", "steer", "interrupt", "reject"])
async def test_each_message_is_heard_once_in_order_or_refused(house_of: Open, mode: str, seed: int) -> None:
    """C46a."""
    house = await house_of(
        platform={"input_limit": LIMIT},
        queue={"mode": mode, "gather_s": 0.1, "lane_size": 8},
        approvals={"allow": ["lab/*"]},
        tools={"read_only": ["lab/count"]},
        turns={"attempts": 99},
    )
    story = Story(house, house.person(), seed)
    await story.run()

    heard = await story.heard()
    parts = await story.parts()
    firsts: list[int] = []
    for number, (became, ended) in (await story.became()).items():
        words = [word for word in heard if word[1:] == str(number)]
        if became in {"busy", "lane_full"}:
            assert words == [], f"{number} was refused ({became})"
        elif ended == "its message was deleted" or story.said[number].message_id not in parts:
            assert words == [], f"{number} was deleted"
        else:
            assert words in (["w" + str(number)], ["e" + str(number)], [f"w{number}", f"e{number}"]), number
            firsts.append(heard.index(words[0]))
    assert firsts == sorted(firsts)
