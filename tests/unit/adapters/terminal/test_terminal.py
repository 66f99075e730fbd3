"""The terminal's ways of being used: a conversation, one message, a pipe."""

import asyncio
import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from adapters.terminal.adapter import TerminalAdapter
from adapters.terminal.console import Key, PlainConsole
from adapters.terminal.live import Live
from adapters.terminal.place import HERE
from adapters.terminal.settings import TerminalSettings
from gateway.document import Document, parse, plain, text_document
from gateway.errors import StoreUnavailable, TargetGone
from gateway.messages import Button, ButtonPress, InboundMessage, OutboundMessage, PressAnswer, Target, Update

pytestmark = pytest.mark.req("ADP-9")

CARD = ((Button(label="Once", token="t-once"), Button(label="Deny", token="t-deny")),)


def outbound(text: str, **details: Any) -> OutboundMessage:
    given = {"target": Target.of(HERE), "body": text_document(text), "idem_key": "k"}
    return OutboundMessage(**(given | details))


@dataclass
class Gateway:
    """Inbox and API in one: `answer` is called with each message and may send; idle whenever it is done."""

    answer: Callable[[TerminalAdapter, InboundMessage], Any] | None = None
    adapter: TerminalAdapter | None = None
    received: list[Update] = field(default_factory=list)
    told: PressAnswer | None = None
    busy: bool = False
    failure: Exception | None = None
    events: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def online(self) -> None:
        self.idle.set()

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        if self.failure:
            raise self.failure
        self.received.extend(updates)
        for update in updates:
            if isinstance(update, ButtonPress):
                self.idle.set()
                return (self.told,)
            if self.answer and self.adapter:
                await self.answer(self.adapter, update)
        return (None,) * len(updates)

    async def watch(self, source: object) -> Any:
        while True:
            yield await self.events.get()

    async def is_idle(self, source: object) -> bool:
        return not self.busy

    async def wait_idle(self, source: object) -> None:
        await self.idle.wait()

    @property
    def texts(self) -> list[str]:
        return [update.text for update in self.received if isinstance(update, InboundMessage)]


class ScriptedConsole:
    """A person who enters what the script says, and remembers what was shown."""

    is_interactive = True

    def __init__(self, *entered: str | Key) -> None:
        self.entered = [*entered, Key.END]
        self.shown: list[str] = []
        self.live: list[Live] = []

    async def read(self) -> str | Key:
        return self.entered.pop(0)

    async def show(self, document: Document, choices: str = "") -> None:
        self.shown += filter(None, (plain(document), choices))

    async def note(self, text: str) -> None:
        self.shown.append(f"({text})")

    def show_live(self, live: Live) -> None:
        self.live.append(live)


async def echo(adapter: TerminalAdapter, message: InboundMessage) -> None:
    await adapter.send(outbound(f"you said {message.text}"))


async def run(gateway: Gateway, console: Any, **settings: Any) -> TerminalAdapter:
    gateway.adapter = TerminalAdapter(TerminalSettings(**settings), gateway, console=console)
    async with asyncio.timeout(5):
        await gateway.adapter.run(gateway)
    return gateway.adapter


def pipe(text: str) -> tuple[PlainConsole, io.StringIO, io.StringIO]:
    out, notes = io.StringIO(), io.StringIO()
    return PlainConsole(io.StringIO(text), out, notes), out, notes


async def test_lines_of_a_pipe_are_answered_one_by_one_and_then_it_ends():
    console, out, notes = pipe("one\n\n  two  \nlast without end")
    gateway = Gateway(answer=echo)
    adapter = await run(gateway, console)
    assert out.getvalue() == "you said one\nyou said two\nyou said last without end\n"
    assert (notes.getvalue(), adapter.exit_code) == ("", 0)


async def test_a_line_of_a_pipe_waits_for_the_answer_before_it():
    console, _, _ = pipe("one\ntwo\n")
    gateway = Gateway()
    gateway.adapter = adapter = TerminalAdapter(TerminalSettings(), gateway, console=console)

    arrived: asyncio.Queue[str] = asyncio.Queue()

    async def busy(adapter: TerminalAdapter, message: InboundMessage) -> None:
        gateway.idle.clear()
        arrived.put_nowait(message.text)

    gateway.answer = busy
    task = asyncio.create_task(adapter.run(gateway))
    assert await arrived.get() == "one"
    for _ in range(50):
        await asyncio.sleep(0)
    assert arrived.empty()
    gateway.idle.set()
    assert await arrived.get() == "two"
    gateway.idle.set()
    await task


async def ask(adapter: TerminalAdapter, message: InboundMessage) -> None:
    await adapter.send(outbound("May I roll?", buttons=CARD))


@pytest.mark.req("APR-2")
@pytest.mark.parametrize("entered", ["2", "Deny", "deny"])
async def test_number_or_label_of_an_open_card_is_a_press(entered: str):
    console, out, notes = pipe(f"roll\n{entered}\n")
    gateway = Gateway(answer=ask, told=PressAnswer(text="Denied."))
    adapter = await run(gateway, console)
    assert [type(update).__name__ for update in gateway.received] == ["InboundMessage", "ButtonPress"]
    assert gateway.received[1].token == "t-deny"
    assert out.getvalue() == "May I roll?\n1 Once  2 Deny\n"
    assert (notes.getvalue(), adapter.exit_code) == ("Denied.\n", 0)


async def test_a_number_without_a_card_is_a_message():
    console, _, _ = pipe("2\n")
    gateway = Gateway()
    await run(gateway, console)
    assert gateway.texts == ["2"]


async def test_a_number_the_card_does_not_have_is_not_a_message():
    console = ScriptedConsole("roll", "7")
    gateway = Gateway(answer=ask)
    await run(gateway, console)
    assert gateway.texts == ["roll"]
    assert console.shown == ["May I roll?", "1 Once  2 Deny", "(1 Once  2 Deny)"]


async def test_a_card_closed_by_an_edit_takes_no_press_any_more():
    async def ask_and_close(adapter: TerminalAdapter, message: InboundMessage) -> None:
        if message.text == "roll":
            receipt = await adapter.send(outbound("May I roll?", buttons=CARD))
            await adapter.edit(receipt.message_id, outbound("May I roll? Expired."))

    console = ScriptedConsole("roll", "1")
    gateway = Gateway(answer=ask_and_close)
    await run(gateway, console)
    assert gateway.texts == ["roll", "1"]
    assert console.shown == ["May I roll?", "1 Once  2 Deny", "May I roll? Expired."]


async def test_an_edit_that_only_takes_the_buttons_away_shows_nothing_again():
    console = ScriptedConsole()
    adapter = TerminalAdapter(TerminalSettings(), Gateway(), console=console)
    receipt = await adapter.send(outbound("May I roll?", buttons=CARD))
    await adapter.edit(receipt.message_id, outbound("May I roll?"))
    assert console.shown == ["May I roll?", "1 Once  2 Deny"]


async def test_an_edit_shows_only_what_is_new():
    console = ScriptedConsole()
    adapter = TerminalAdapter(TerminalSettings(), Gateway(), console=console)
    receipt = await adapter.send(outbound("", body=parse("May I roll?\n\nsides: 6"), buttons=CARD))
    await adapter.edit(receipt.message_id, outbound("", body=parse("Allowed.\n\nsides: 6")))
    await adapter.edit(receipt.message_id, outbound("", body=parse("Allowed. Done.\n\nsides: 6")))
    assert console.shown == ["May I roll?\n\nsides: 6", "1 Once  2 Deny", "Allowed.", "Allowed. Done."]


async def test_once_takes_one_message_and_ends():
    console, out, _ = pipe("not read\n")
    gateway = Gateway(answer=echo)
    adapter = await run(gateway, console, once="hello")
    assert (out.getvalue(), gateway.texts, adapter.exit_code) == ("you said hello\n", ["hello"], 0)


async def test_once_with_a_card_and_nobody_there_says_what_to_do():
    console, _, notes = pipe("")
    gateway = Gateway(answer=ask)
    adapter = await run(gateway, console, once="roll")
    assert adapter.exit_code == 1
    assert "answer it in `parley chat`" in notes.getvalue()
    assert "approvals.allow" in notes.getvalue()


async def test_once_with_a_person_there_asks_for_the_press():
    console = ScriptedConsole("1")
    gateway = Gateway(answer=ask)
    adapter = await run(gateway, console, once="roll")
    assert [update.token for update in gateway.received if isinstance(update, ButtonPress)] == ["t-once"]
    assert adapter.exit_code == 0


async def test_ctrl_c_stops_a_running_turn_and_otherwise_hints():
    console = ScriptedConsole(Key.INTERRUPT)
    gateway = Gateway(busy=True)
    await run(gateway, console)
    assert gateway.texts == ["/stop"]
    assert ["still open" in note or "stays open" in note for note in console.shown] == [True, True]

    console = ScriptedConsole(Key.INTERRUPT)
    gateway = Gateway()
    await run(gateway, console)
    assert (gateway.texts, console.shown) == ([], ["(Ctrl-D leaves; /help lists the commands)"])


async def test_a_finished_message_takes_the_place_of_the_running_answer():
    console = ScriptedConsole()
    adapter = TerminalAdapter(TerminalSettings(), Gateway(), console=console)
    adapter._live = Live(turn_id=1, parts=((0, "so far"),))
    await adapter.send(outbound("so far and on", buttons=CARD))
    assert console.live == []
    await adapter.send(outbound("so far and on"))
    assert console.live == [Live(turn_id=1)]


async def test_a_store_that_fails_is_raised_as_itself():
    console, _, _ = pipe("hello\n")
    with pytest.raises(StoreUnavailable):
        await run(Gateway(failure=StoreUnavailable("full")), console)


async def test_control_characters_of_a_reply_do_not_reach_the_terminal():
    console, out, _ = pipe("")
    adapter = TerminalAdapter(TerminalSettings(), Gateway(), console=console)
    await adapter.send(outbound("a\x1b[2Jb"))
    assert "\x1b" not in out.getvalue()


async def test_a_closed_output_means_the_target_is_gone():
    console, out, _ = pipe("")
    out.close()
    adapter = TerminalAdapter(TerminalSettings(), Gateway(), console=console)
    with pytest.raises(TargetGone):
        await adapter.send(outbound("anyone?"))


ASKED = ((Button(label="Skip", token="t-skip"),),)
SIZES = ((Button(label="2", token="t-two"), Button(label="1", token="t-one")), *ASKED)


async def question_then_echo(adapter: TerminalAdapter, message: InboundMessage) -> None:
    if message.text == "ask":
        await adapter.send(outbound("How many?", buttons=ASKED))
    else:
        await adapter.edit("1", outbound("How many? Answered."))
        await adapter.send(outbound(f"you said {message.text}"))


@pytest.mark.req("TOL-6")
async def test_a_number_answers_a_question_whose_only_button_skips_it():
    console, out, _ = pipe("ask\n1\n")
    gateway = Gateway(answer=question_then_echo)
    adapter = await run_numbered(gateway, console)
    assert gateway.texts == ["ask", "1"]
    assert adapter.exit_code == 0
    assert out.getvalue() == "How many?\nSkip\nHow many? Answered.\nyou said 1\n"


@pytest.mark.req("TOL-6")
async def test_a_label_that_is_another_buttons_number_is_meant_as_the_label():
    async def ask(adapter: TerminalAdapter, _message: InboundMessage) -> None:
        await adapter.send(outbound("How many?", buttons=SIZES))

    gateway = Gateway(answer=ask)
    await run(gateway, ScriptedConsole("ask", "2"))
    assert [update.token for update in gateway.received if isinstance(update, ButtonPress)] == ["t-two"]


async def run_numbered(gateway: Gateway, console: Any) -> TerminalAdapter:
    """As `run`, with ids that count from 0."""
    ids = itertools.count()
    adapter = TerminalAdapter(TerminalSettings(), gateway, console=console, new_id=lambda: str(next(ids)))
    gateway.adapter = adapter
    async with asyncio.timeout(5):
        await adapter.run(gateway)
    return adapter
