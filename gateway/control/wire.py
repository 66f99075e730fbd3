"""Calls both ways over one connection, a JSON object a line.

    {"call": 1, "name": "status", "args": {}}     ask; answered by one of
    {"reply": 1, "value": …}                      the answer
    {"reply": 1, "error": "NotSent", "text": "…"} or why there is none: a name of `gateway.errors`
    {"note": "event", "args": {…}}                told, not answered

Both sides first send `{"hello": {"control": 1, …}}`. Whatever is no such line ends the connection.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from gateway.errors import ParleyError

VERSION = 1
MAX_LINE = 4_000_000
"""Bytes of one line: the longest message a terminal shows, as JSON, several times over."""

WRITE_S = 10.0
"""How long a line may take to be written before the other side counts as gone."""

MAX_CALLS = 16
"""Calls of the other side that are carried out at one time."""

Handler = Callable[[dict[str, Any]], Awaitable[Any]]
NoteHandler = Callable[[dict[str, Any]], None]


class PeerGone(ParleyError):
    """The connection ended before the answer came."""


class PeerFailed(ParleyError):
    """The other side answered with an error; `kind` is its class in `gateway.errors`."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Peer:
    """The other side of one connection; `handlers` answer its calls, `notes` take what it tells."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        handlers: Mapping[str, Handler],
        notes: Mapping[str, NoteHandler],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handlers = handlers
        self._notes = notes
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._closed = False
        self.idle_s: float | None = None  # the connection ends when nothing came for so long

    async def greet(self, **about: object) -> dict[str, Any]:
        """Say hello and hear it; returns what the other side says about itself.

        Raises:
            PeerGone: no proper greeting came.
            PeerFailed: the other side speaks another version, or refuses.
        """
        await self._write({"hello": {"control": VERSION, **about}})
        line = await self._read()
        hello = line.get("hello") if line is not None else None
        if not isinstance(hello, dict):
            raise PeerGone("no greeting came")
        if "refused" in hello:
            raise PeerFailed("Refused", str(hello["refused"]))
        if hello.get("control") != VERSION:
            raise PeerFailed(
                "Refused",
                f"the daemon speaks version {hello.get('control')} of the control protocol,"
                f" this program version {VERSION}: restart the daemon",
            )
        return hello

    async def refuse(self, why: str) -> None:
        """Greet with a refusal and close."""
        with suppress(PeerGone):
            await self._write({"hello": {"control": VERSION, "refused": why}})
        self.close()

    async def run(self) -> None:
        """Read until the connection ends; then every call has failed, and every answer in the making is dropped."""
        answering: set[asyncio.Task[None]] = set()
        free = asyncio.Semaphore(MAX_CALLS)

        def answered(task: "asyncio.Task[None]") -> None:
            answering.discard(task)
            free.release()

        try:
            async with asyncio.TaskGroup() as group:
                while (line := await self._read()) is not None:
                    if "name" in line:
                        await free.acquire()
                        task = group.create_task(self._answer(line))
                        answering.add(task)
                        task.add_done_callback(answered)
                    elif not self._take(line):
                        break
                self._lost()
                for task in answering:
                    task.cancel()
        finally:
            self._lost()
            self.close()

    async def call(self, name: str, args: Mapping[str, Any], *, timeout_s: float | None = None) -> Any:
        """Ask the other side.

        Raises:
            PeerGone: the connection ended before the answer.
            PeerFailed: the answer is an error.
            TimeoutError: no answer within `timeout_s` seconds.
        """
        if self._closed:
            raise PeerGone("the connection has ended")
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._write({"call": number, "name": name, "args": args})
            async with asyncio.timeout(timeout_s):
                return await answer
        finally:
            self._waiting.pop(number, None)

    async def tell(self, note: str, args: Mapping[str, Any]) -> None:
        """Tell the other side something.

        Raises:
            PeerGone: the connection has ended, or the other side does not read.
        """
        await self._write({"note": note, "args": args})

    def close(self) -> None:
        """End the connection."""
        self._closed = True
        self._writer.close()

    def _take(self, line: dict[str, Any]) -> bool:
        if "reply" in line:
            answer = self._waiting.get(line["reply"])
            if answer is not None and not answer.done():
                if "error" in line:
                    answer.set_exception(PeerFailed(str(line["error"]), str(line.get("text", ""))))
                else:
                    answer.set_result(line.get("value"))
            return True
        handler = self._notes.get(str(line.get("note")))
        if handler is None:
            return False
        handler(line.get("args") or {})
        return True

    async def _answer(self, line: dict[str, Any]) -> None:
        number, name = line.get("call"), str(line["name"])
        handler = self._handlers.get(name)
        try:
            if handler is None:
                reply: dict[str, Any] = {"error": "Unknown", "text": f"nothing here is called {name!r}"}
            else:
                reply = {"value": await handler(line.get("args") or {})}
        except ParleyError as error:
            reply = {"error": type(error).__name__, "text": str(error)}
        except (KeyError, TypeError, ValueError) as error:  # arguments nobody of ours would send
            reply = {"error": "BadCall", "text": f"{name}: {type(error).__name__}: {error}"}
        with suppress(PeerGone):
            await self._write({"reply": number, **reply})

    async def _read(self) -> dict[str, Any] | None:
        try:
            async with asyncio.timeout(self.idle_s):
                line = await self._reader.readline()
            parsed = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, TimeoutError, OSError):  # ValueError: too long, or no JSON
            return None
        return parsed if isinstance(parsed, dict) else None

    async def _write(self, line: Mapping[str, Any]) -> None:
        if self._closed:
            raise PeerGone("the connection has ended")
        try:
            self._writer.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            async with asyncio.timeout(WRITE_S):
                await self._writer.drain()
        except (OSError, TimeoutError) as error:
            self._lost()
            self.close()
            raise PeerGone("the connection broke") from error

    def _lost(self) -> None:
        self._closed = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(PeerGone("the connection ended before the answer"))
