"""The prompt for a person: keys, history and the running answer, with a pipe for the keyboard."""

import asyncio
import os
import signal
import stat
from collections.abc import Iterator

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from adapters.terminal.console import Key, PromptConsole
from adapters.terminal.live import Live
from gateway.document import parse

pytestmark = pytest.mark.req("ADP-9")


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys


async def test_a_line_is_what_was_typed(keyboard: PipeInput):
    keyboard.send_text("hello\r")
    assert await PromptConsole().read() == "hello"


async def test_ctrl_c_clears_what_was_typed_and_counts_on_an_empty_line_only(keyboard: PipeInput):
    console = PromptConsole()
    keyboard.send_text("half a tho\x03next\r")
    assert await console.read() == "next"
    keyboard.send_text("\x03")
    assert await console.read() is Key.INTERRUPT


async def test_the_daemons_own_handling_of_sigint_is_left_alone(keyboard: PipeInput):
    heard, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, heard.set)
    try:
        keyboard.send_text("hello\r")
        await PromptConsole().read()
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(5):
            await heard.wait()
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def test_ctrl_d_on_an_empty_line_ends(keyboard: PipeInput):
    keyboard.send_text("\x04")
    assert await PromptConsole().read() is Key.END


async def test_what_was_typed_is_kept_for_its_writer_alone(keyboard: PipeInput, tmp_path):
    file = tmp_path / "history"
    keyboard.send_text("remember me\r")
    await PromptConsole(file).read()
    assert "remember me" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    keyboard.send_text("\x1b[A\r")  # the arrow up
    assert await PromptConsole(file).read() == "remember me"


async def test_a_message_can_be_shown_while_a_line_is_typed(keyboard: PipeInput):
    written: list[str] = []
    console = PromptConsole(write=written.append)
    reading = asyncio.create_task(console.read())
    keyboard.send_text("half ")
    await asyncio.sleep(0)
    await console.show(parse("a **bold** word"), "1 Once  2 Deny")
    await console.note("noted")
    keyboard.send_text("and half\r")
    assert await reading == "half and half"
    text = "".join(written)
    assert "bold" in text
    assert "1 Once  2 Deny" in text
    assert "noted" in text


async def test_the_running_answer_stands_above_the_prompt_until_the_line_is_entered(keyboard: PipeInput):
    console = PromptConsole()
    console.show_live(Live(turn_id=1, parts=((0, "so far"),), status="thinking…"))
    assert "".join(text for _, text in console._prompt()).split() == ["so", "far", "thinking…", "›"]
    console.show_live(Live())
    assert [text for _, text in console._prompt()] == ["› "]
