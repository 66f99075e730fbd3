"""Growing replies on Telegram, through the real daemon and the real library: at its limits and with its refusals."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from gateway.config import load_config
from gateway.daemon.life import Daemon, Plan
from gateway.store import outbox, schema
from gateway.store.sqlite import SqliteStore, open_database
from tests.flow import scripted
from tests.flow.house import WAIT_S, Clock
from tests.flow.scripted import Gate, ScriptedModel
from tests.simulators.telegram import Chat, TelegramSimulator, User
from tests.simulators.telegram.appearance import styles_of

pytestmark = pytest.mark.req("DLV-5")

LINE = "Line {n} says **bold {n}** & more of it, <b>as it is</b> 🦉.\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A running daemon between the simulator and the scripted model."""

    sim: TelegramSimulator
    model: ScriptedModel
    database: SqliteStore
    daemon: Daemon
    clock: Clock
    ada: User
    group: Chat

    async def until(self, sql: str) -> None:
        async with asyncio.timeout(WAIT_S):
            while not await self.database.read(lambda tx: tx.rows(sql)):
                await self.database.write(lambda tx: None)

    async def reads(self, chat: Chat | User, text: str) -> None:
        """Wait until the bots' messages in a chat are just this one."""
        await self.sim.wait_for(lambda: [one.text for one in self.sim.replies(chat)] == [text])

    async def pass_by(self, **time: float) -> None:
        """Let time pass, and whoever waits for it notice."""
        self.clock.pass_by(**time)
        dests = await self.database.read(lambda tx: tx.rows("SELECT dest FROM destinations"))
        for row in dests:
            self.daemon._delivery.wake(row["dest"])


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)
    monkeypatch.setattr("adapters.telegram.adapter.EDIT_GAP_S", 0.0)
    monkeypatch.setattr("adapters.telegram.adapter.GROUP_EDIT_GAP_S", 0.0)
    file = tmp_path / "config.yaml"
    settings = {
        "state_dir": str(tmp_path),
        "access": {"allow": {"telegram": ["*"]}, "groups": "always"},
        "models": {"scripted": {"provider": scripted.KIND, "model": "any"}},
        "agents": {"default": {"model": "scripted"}},
    }
    file.write_text(yaml.safe_dump(settings))
    config = load_config(path=file, environ={}, sections={}, platforms=("telegram",))
    database = await open_database(tmp_path / "parley.db")
    await database.write(lambda tx: schema.migrate(tx, 0))
    async with TelegramSimulator() as sim:
        ada = sim.add_user(name="Ada")
        group = sim.add_supergroup("Friends", [ada])
        adapter = TelegramAdapter(TelegramSettings(token=sim.token, api_base=sim.url, poll_timeout_s=5))
        clock = Clock()
        daemon = Daemon(Plan(config=config, adapters=[lambda api: adapter]), database, clock=clock)
        running = asyncio.create_task(daemon.run())
        yield Scene(
            sim=sim,
            model=scripted.model,
            database=database,
            daemon=daemon,
            clock=clock,
            ada=ada,
            group=group,
        )
        daemon.stop()
        async with asyncio.timeout(WAIT_S):
            assert await running == 0
        assert not sim.refusals, sim.describe()
        assert not sim.violations
    await database.close()


async def test_an_answer_of_11000_characters_grows_through_several_messages_and_no_edit_is_refused(
    scene: Scene,
) -> None:
    """C54a, C54b at Telegram's limits."""
    sim, lines = scene.sim, [LINE.format(n=n) for n in range(200)]
    gates = [Gate() for _ in range(10)]
    scene.model.then(
        tuple(part for n in range(10) for part in ("".join(lines[n * 20 : n * 20 + 20]), gates[n]))
    )
    sim.say(scene.group, "go")
    for number, gate in enumerate(gates):
        await gate.reached()
        await sim.wait_for(
            lambda last=number * 20 + 19: any(
                f"Line {last} says" in one.text for one in sim.replies(scene.group)
            )
        )
        gate.open()
    await scene.until("SELECT 1 FROM turns WHERE state = 'done'")
    await scene.until("SELECT 1 AS x WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE state <> 'sent')")

    shown = sim.replies(scene.group)
    expected = "\n\n".join(line.replace("**", "").strip() for line in lines)
    assert "\n\n".join(message.text for message in shown) == expected
    assert len(shown) >= 3
    assert len(sim.calls("sendMessage")) == len(shown)
    assert all("bold" in styles_of(message, "bold") for message in shown)


async def test_a_last_preview_that_is_the_whole_text_costs_no_further_request(scene: Scene) -> None:
    """C55a."""
    end = Gate()
    scene.model.then(("All of *it*.", end))
    scene.sim.say(scene.group, "go")
    await scene.reads(scene.group, "All of it.")
    await scene.until("SELECT 1 FROM outbox WHERE state = 'growing'")
    end.open()
    await scene.until("SELECT 1 FROM turns WHERE state = 'done'")
    await scene.until("SELECT 1 FROM outbox WHERE state = 'sent'")

    assert (len(scene.sim.calls("sendMessage")), len(scene.sim.calls("editMessageText"))) == (1, 0)


async def test_a_last_edit_that_telegram_takes_for_unchanged_has_arrived(scene: Scene) -> None:
    """C55a, when nobody remembers what was shown."""
    end = Gate()
    scene.model.then(("All", end, " of it."))
    scene.sim.say(scene.group, "go")
    await scene.reads(scene.group, "All")
    scene.sim.lose_answer(scene.group, method="editMessageText")  # shown, and not heard of
    end.open()
    await scene.reads(scene.group, "All of it.")
    await scene.until("SELECT 1 FROM turns WHERE state = 'done'")
    await scene.until("SELECT 1 FROM outbox WHERE state = 'sent'")

    assert len(scene.sim.replies(scene.group)) == 1
    scene.sim.refusals.clear()  # Telegram's "message is not modified" counts as one


async def test_a_last_edit_refused_with_429_comes_later_formatted_as_it_was(scene: Scene) -> None:
    """C59a."""
    end = Gate()
    scene.model.then(("Half", end, " and **whole**"))
    scene.sim.say(scene.group, "go")
    await scene.reads(scene.group, "Half")
    scene.sim.flood(scene.group, retry_after_s=3600, method="editMessageText")
    end.open()
    await scene.until("SELECT 1 FROM turns WHERE state = 'done'")
    await scene.until("SELECT 1 FROM destinations WHERE paused_until > 0")
    assert [one.text for one in scene.sim.replies(scene.group)] == ["Half"]
    await scene.pass_by(hours=1)
    await scene.reads(scene.group, "Half and whole")

    refused, passed = scene.sim.calls("editMessageText")[-2:]
    assert refused.params == passed.params
    assert "bold" in styles_of(scene.sim.replies(scene.group)[0], "whole")


async def test_an_edit_refused_with_429_silences_this_chat_and_no_other(scene: Scene) -> None:
    """C60a, C60b."""
    sim, bob = scene.sim, scene.sim.add_user(name="Bob")
    other = sim.add_supergroup("Others", [bob])
    gates = [Gate() for _ in range(3)]
    scene.model.then(("one", gates[0], " two", gates[1], " three", gates[2], " four"))
    sim.say(scene.group, "go")
    await scene.reads(scene.group, "one")
    sim.flood(scene.group, retry_after_s=3600, method="editMessageText")
    gates[0].open()
    await scene.until("SELECT 1 FROM destinations WHERE paused_until > 0")
    before = _asked(sim, scene.group)
    gates[1].open()
    await gates[2].reached()
    half = Gate()
    scene.model.then(("B", half, " streams"))
    sim.say(other, "go", user=bob)
    await scene.reads(other, "B")
    half.open()
    await scene.reads(other, "B streams")
    assert _asked(sim, scene.group) == before

    await scene.pass_by(hours=1)
    await scene.reads(scene.group, "one two three")
    assert _asked(sim, scene.group) == before + 1
    gates[2].open()
    await scene.reads(scene.group, "one two three four")


async def test_in_a_private_chat_a_reply_grows_as_a_draft_and_is_sent_once(scene: Scene) -> None:
    sim, gates = scene.sim, [Gate(), Gate()]
    scene.model.then(("Dear", gates[0], " **Ada**", gates[1], "!"))
    sim.say(scene.ada, "go")
    for number, text in enumerate(("Dear", "Dear Ada")):
        await sim.wait_for(lambda text=text: text in [draft.text for draft in sim.chat(scene.ada).drafts])
        gates[number].open()
    await scene.reads(scene.ada, "Dear Ada!")
    await scene.until("SELECT 1 FROM outbox WHERE state = 'sent'")

    assert (len(sim.calls("sendMessage")), len(sim.calls("editMessageText"))) == (1, 0)


@pytest.mark.req("DLV-7")
async def test_a_first_send_without_an_answer_is_noticed_and_never_sent_twice(scene: Scene) -> None:
    sim, rest = scene.sim, Gate()
    scene.model.then(("One half", rest, ", the other half."))
    sim.lose_answer(scene.group)
    sim.say(scene.group, "go")
    await scene.until("SELECT 1 FROM outbox WHERE state = 'unknown'")
    rest.open()
    await sim.wait_for(lambda: any("other half." in one.text for one in sim.replies(scene.group)))
    await scene.until("SELECT 1 FROM turns WHERE state = 'done'")

    texts = [one.text for one in sim.replies(scene.group)]
    assert (texts[0], texts[-1]) == ("One half", ", the other half.")
    assert any("may not have arrived" in text for text in texts)
    unknown = await scene.database.read(lambda tx: tx.rows("SELECT dest FROM outbox WHERE state = 'unknown'"))
    assert len(unknown) == 1
    found = await scene.database.read(lambda tx: outbox.unknown(tx, unknown[0]["dest"]))
    assert len(found) == 1


def _asked(sim: TelegramSimulator, chat: Chat) -> int:
    """How often the bot asked anything about this chat, refused or not."""
    methods = ("sendMessage", "editMessageText", "sendChatAction", "sendMessageDraft")
    return sum(str(call.params["chat_id"]) == str(chat.id) for name in methods for call in sim.calls(name))
