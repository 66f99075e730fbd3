"""Where lines come from and answers go to: a person at a terminal, or a pipe.

`PromptConsole` shows the running answer above the line being typed, then in its place the finished
message. `PlainConsole` reads lines and writes texts, without any control sequence.
"""

import asyncio
import io
import itertools
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Protocol, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from rich.console import Console as RichConsole

from adapters.terminal.live import Live
from adapters.terminal.render import render
from adapters.terminal.text import printable
from gateway.document import Document, parse
from gateway.document.plain import plain

_PROMPT = ("bold", "› ")
_LEAST_GAP_S = 0.1
_GAP_PER_DRAWING = 4
"""A running answer is drawn this many times more seldom than it takes to draw, so that drawing never holds it up."""

_LINK = re.compile(r"\x1b\]8;[^\x1b]*\x1b\\")
"""A hyperlink's beginning and end (OSC 8)."""


class Key(Enum):
    """What a person may do instead of entering a line."""

    INTERRUPT = auto()
    END = auto()


class Console(Protocol):
    """A place to read from and to write to."""

    @property
    def is_interactive(self) -> bool:
        """Whether a person is there, who sees the running answer and can be asked."""
        ...

    async def read(self) -> str | Key:
        """The next line without its end, or the key pressed instead; `Key.END` when there is no more."""
        ...

    async def show(self, document: Document, choices: str = "") -> None:
        """Show a finished message, then the line that numbers its buttons."""
        ...

    async def note(self, text: str) -> None:
        """Tell something that is not part of the conversation."""
        ...

    def show_live(self, live: Live) -> None:
        """Show how far the running answer is, in place of what was last shown by this."""
        ...


class PlainConsole:
    """Lines in, texts out; notes go to the error output."""

    is_interactive = False

    def __init__(self, lines: TextIO, out: TextIO, notes: TextIO) -> None:
        self._lines = lines
        self._out = out
        self._notes = notes
        self._read: asyncio.Queue[str] = asyncio.Queue()
        self._wanted = threading.Semaphore(0)
        self._reader: threading.Thread | None = None

    async def read(self) -> str | Key:
        """The next line of the input; none is taken from it before it is asked for."""
        if self._reader is None:
            # A thread of its own, not the pool's: one that hangs in a read would hold up the exit.
            self._reader = threading.Thread(
                target=self._read_lines, args=(asyncio.get_running_loop(),), daemon=True
            )
            self._reader.start()
        self._wanted.release()
        line = await self._read.get()
        return line.rstrip("\r\n") if line else Key.END

    async def show(self, document: Document, choices: str = "") -> None:
        """Write the text and its end of line."""
        self._out.write(printable("\n".join(filter(None, (plain(document), choices)))) + "\n")
        self._out.flush()

    async def note(self, text: str) -> None:
        """Write to the error output."""
        self._notes.write(printable(text) + "\n")
        self._notes.flush()

    def show_live(self, live: Live) -> None:
        """Nothing: a pipe gets finished texts only."""

    def _read_lines(self, loop: asyncio.AbstractEventLoop) -> None:
        line = "\n"
        while line:  # an empty one is the end
            self._wanted.acquire()
            line = self._lines.readline()
            try:
                loop.call_soon_threadsafe(self._read.put_nowait, line)
            except RuntimeError:
                return  # the loop is closed: nobody reads any more


class PromptConsole:
    """A person at a terminal: line editing, history, formatted and running answers."""

    is_interactive = True

    def __init__(
        self, history_file: Path | None = None, *, write: Callable[[str], object] | None = None
    ) -> None:
        """`write` takes finished, coloured text; by default it goes to the standard output."""
        self._write = write or _write_out
        self._live = Live()
        self._drawn: StyleAndTextTuples = [_PROMPT]
        self._drawn_of: tuple[Live, os.terminal_size] | None = None
        self._session: PromptSession[str] = PromptSession(
            message=self._prompt, history=_history(history_file), enable_history_search=True
        )

    async def read(self) -> str | Key:
        """The line that was entered; Ctrl-C clears what was typed and counts only on an empty line."""
        while True:
            try:
                # Ctrl-C is a key here; SIGINT from elsewhere stays the daemon's to handle.
                return await self._session.prompt_async(handle_sigint=False)
            except EOFError:
                return Key.END
            except KeyboardInterrupt:
                if not self._session.default_buffer.text:
                    return Key.INTERRUPT

    async def show(self, document: Document, choices: str = "") -> None:
        """Print above the prompt, formatted for the terminal's width."""
        rendered = _formatted(document, shutil.get_terminal_size().columns)
        await self._print(rendered + (f"\x1b[1m{printable(choices)}\x1b[0m\n" if choices else ""))

    async def note(self, text: str) -> None:
        """Print above the prompt, dimmed."""
        await self._print(f"\x1b[2m{printable(text)}\x1b[0m\n")

    def show_live(self, live: Live) -> None:
        """Redraw the prompt with the running answer above it."""
        self._live = live
        if not (live.text or live.status):
            self._session.app.min_redraw_interval = 0.0
        self._session.app.invalidate()

    async def _print(self, text: str) -> None:
        await run_in_terminal(lambda: self._write(text))

    def _prompt(self) -> StyleAndTextTuples:
        # An entered line stays on the screen; the running answer must not stay with it.
        if self._session.app.is_done:
            return [_PROMPT]
        # The line editor asks several times for each redraw.
        live, size = self._live, shutil.get_terminal_size()
        if self._drawn_of is None or self._drawn_of[0] is not live or self._drawn_of[1] != size:
            began_s = time.perf_counter()
            self._drawn_of, self._drawn = (live, size), _fragments(live, size)
            if live.text or live.status:
                took_s = time.perf_counter() - began_s
                self._session.app.min_redraw_interval = max(_LEAST_GAP_S, took_s * _GAP_PER_DRAWING)
        return self._drawn


def _fragments(live: Live, size: os.terminal_size) -> StyleAndTextTuples:
    tail = live.tail(growing(live.recent(), size.columns), columns=size.columns, rows=max(size.lines - 4, 1))
    if not tail:
        return [_PROMPT]
    # `ANSI` makes a fragment of each character.
    runs = itertools.groupby(to_formatted_text(ANSI(tail + "\n")), key=lambda fragment: fragment[0])
    return [*((style, "".join(each[1] for each in run)) for style, run in runs), _PROMPT]


def growing(markdown: str, columns: int) -> str:
    """An answer so far, drawn as it will be in the end; links lead nowhere yet, as the line editor knows none."""
    return _LINK.sub("", _formatted(parse(markdown), columns)) if markdown.strip() else ""


def _formatted(document: Document, columns: int) -> str:
    console = RichConsole(file=io.StringIO(), force_terminal=True, width=columns, highlight=False)
    with console.capture() as captured:
        console.print(render(document))
    return captured.get()


def _history(file: Path | None) -> History:
    if file is None:
        return InMemoryHistory()
    file.touch(mode=0o600, exist_ok=True)
    return FileHistory(str(file))


def _write_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
