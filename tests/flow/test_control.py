"""The control socket: the operator's questions and orders, and terminals that join a running daemon."""

import asyncio
import json
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.terminal.adapter import TerminalAdapter
from adapters.terminal.console import Key
from adapters.terminal.joined import JoinedTerminal
from adapters.terminal.live import Live
from adapters.terminal.settings import TerminalSettings
from gateway.control import SOCKET, DaemonRefused, NoDaemon, RemoteGateway, ask
from gateway.control.address import reachable
from gateway.control.server import MAX_CONNECTIONS
from gateway.control.wire import MAX_LINE
from gateway.daemon import Plan
from gateway.document import Document, plain
from gateway.errors import ConnectionLost, OutcomeUnknown, TargetGone
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House


@dataclass
class Console:
    """A person at an interactive terminal, who types when the test says so."""

    is_interactive: bool = True
    keys: "asyncio.Queue[str | Key]" = field(default_factory=asyncio.Queue)
    shown: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> str | Key:
        return await self.keys.get()

    async def show(self, document: Document, choices: str = "") -> None:
        self._add(*filter(None, (plain(document), choices)))

    async def note(self, text: str) -> None:
        self._add(f"({text})")

    def show_live(self, live: Live) -> None:
        self.live.append(live.tail(live.recent(), columns=80, rows=5))
        self.changed.set()

    def type(self, text: str | Key) -> None:
        self.keys.put_nowait(text)

    async def sees(self, words: str) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                while not any(words in text for text in (*self.shown, *self.live)):
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise AssertionError(f"{words!r} was never shown; shown are {self.shown}") from None

    def _add(self, *texts: str) -> None:
        self.shown += texts
        self.changed.set()


@dataclass
class Seat:
    """One joined terminal: its console, what its process says beside it, and its end."""

    console: Console
    said: list[str]
    running: "asyncio.Task[TerminalAdapter]"
    account: str = ""

    async def leave(self) -> TerminalAdapter:
        self.console.type(Key.END)
        async with asyncio.timeout(WAIT_S):
            return await self.running


Sit = Callable[..., Awaitable[Seat]]


@pytest.fixture
async def house(house_of: Open, monkeypatch: pytest.MonkeyPatch) -> House:
    operator = partial(Plan, join=JoinedTerminal, operators=frozenset({"terminal"}))
    monkeypatch.setattr("tests.flow.house.Plan", operator)
    return await house_of()


@pytest.fixture
async def sit(house: House) -> AsyncIterator[Sit]:
    """Sits down at a further terminal and waits until it has joined."""
    seats: list[Seat] = []

    async def sit_down(**settings: Any) -> Seat:
        await asyncio.wait_for(_answered(_path(house)), WAIT_S)
        console, said, joined = Console(), [], asyncio.Event()
        seat = Seat(console=console, said=said, running=None)  # type: ignore[arg-type]

        def make(account: str, gateway: RemoteGateway) -> TerminalAdapter:
            seat.account = account
            joined.set()
            return TerminalAdapter(TerminalSettings(account=account, **settings), gateway, console=console)

        def say(text: str) -> None:
            said.append(text)
            console.changed.set()

        seat.running = asyncio.create_task(RemoteGateway(_path(house), "local", say=say).run(make))
        seats.append(seat)
        async with asyncio.timeout(WAIT_S):
            await joined.wait()
        return seat

    yield sit_down
    for seat in seats:
        seat.running.cancel()
        await asyncio.wait([seat.running])


def _path(house: House) -> Path:
    return house.folder / "state" / SOCKET


@pytest.mark.req("OPS-7")
async def test_status_tells_how_every_part_is(house: House) -> None:
    ann = house.person()
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    ann.says("next")
    await house.platform.wait_received()

    found = await ask(_path(house), "status")

    assert found["vitals"] == {
        "adapters": [{"name": "memory[0]", "trouble": "", "detail": ""}],
        "tools": [],
        "memory": [{"name": "builtin", "trouble": "", "detail": "ready"}],
        "running": 1,
        "waiting": 0,
        "stopping": False,
    }
    assert found["counts"] == {"turns": {"queued": 1, "running": 1}, "outbox": {}, "requests": 0}
    assert found["database_bytes"] > 0
    assert [
        (t["state"], t["requester"], t["place"], t["question"]) for t in await ask(_path(house), "turns")
    ] == [
        ("running", "memory:1", "memory:1", "slow"),
        ("queued", "memory:1", "memory:1", "next"),
    ]


@pytest.mark.req("OPS-7", "EVT-2")
async def test_requests_sessions_updates_and_events_can_be_asked_for(house: House) -> None:
    ann = house.person()
    said = ann.says("use count {}")
    await ann.gets_card()
    await house.quiet()

    (request,) = await ask(_path(house), "requests")
    (session,) = await ask(_path(house), "sessions")
    (update,) = await ask(_path(house), "updates", key=said.id)
    page = await ask(_path(house), "events", turn_id=1)

    assert (request["turn_id"], request["kind"], request["place"]) == (1, "approval", "memory:1")
    assert (session["place"], session["turns"], session["ended_at"]) == ("memory:1", 1, None)
    assert (update["became"], update["turn_id"], update["turn_state"]) == ("turn", 1, "waiting")
    assert (page["status"], page["events"][0]["kind"]) == ("waiting", "meta")
    with pytest.raises(DaemonRefused, match="there is no turn 99"):
        await ask(_path(house), "events", turn_id=99)
    with pytest.raises(DaemonRefused, match="nothing here is called 'dance'"):
        await ask(_path(house), "dance")
    with pytest.raises(DaemonRefused, match="KeyError"):
        await ask(_path(house), "events")


@pytest.mark.req("OPS-7", "DLV-6")
async def test_a_dead_letter_is_listed_and_sent_again(house: House) -> None:
    ann = house.person()
    house.platform.fail(TargetGone("blocked"))
    ann.says("plum")
    await house.platform.wait_received()
    await house.quiet()
    (letter,) = await ask(_path(house), "outbox")
    assert (letter["state"], letter["why"], letter["place"]) == ("dead", "blocked", "memory:1")
    assert letter["text"].startswith("You said: plum")

    assert await ask(_path(house), "retry", id=letter["id"]) == f"{letter['id']} is sent again as 2."
    await ann.gets("You said: plum")
    await house.quiet()

    assert await ask(_path(house), "outbox") == []
    assert len(ann.sees()) == 1
    assert "is no message that failed" in await ask(_path(house), "retry", id=letter["id"])


@pytest.mark.req("OPS-7", "DLV-7")
async def test_a_message_that_may_have_arrived_is_never_repeated_in_silence(house: House) -> None:
    ann = house.person()
    house.platform.fail(OutcomeUnknown("no answer"), shown=True)
    ann.says("plum")
    await ann.gets("may not have arrived")
    await house.quiet()
    (letter,) = await ask(_path(house), "outbox")
    assert letter["state"] == "unknown"

    await ask(_path(house), "retry", id=letter["id"])
    await house.quiet()

    assert [text.split("\n")[0] for text in ann.sees()] == [
        "You said: plum",
        "A part of my last answer may not have arrived. /again shows it once more.",
        "↻ Again, this may be a repeat:",
    ]
    assert ann.sees()[-1].split("\n\n")[1].split("\n")[0] == "You said: plum"


@pytest.mark.req("OPS-7")
async def test_a_letter_that_was_dropped_is_not_listed_any_more(house: House) -> None:
    ann = house.person()
    house.platform.fail(TargetGone("blocked"))
    ann.says("plum")
    await house.platform.wait_received()
    await house.quiet()
    (letter,) = await ask(_path(house), "outbox")
    assert await ask(_path(house), "drop", id=letter["id"]) == f"{letter['id']} is dropped."
    assert await ask(_path(house), "outbox") == []


@pytest.mark.req("OPS-5")
async def test_the_socket_is_its_owners_alone_and_goes_with_the_daemon(house: House) -> None:
    path = _path(house)
    await asyncio.wait_for(_answered(path), WAIT_S)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await house.stop()
    assert not path.exists()
    with pytest.raises(NoDaemon):
        await ask(path, "status")
    with socket.socket(socket.AF_UNIX) as stale, reachable(path) as address:
        stale.bind(address)  # as a killed process leaves it behind
    with pytest.raises(NoDaemon):
        await ask(path, "status")
    await house.start()
    await asyncio.wait_for(_answered(path), WAIT_S)


async def _answered(path: Path) -> None:
    while True:
        try:
            await ask(path, "status")
        except NoDaemon:
            await asyncio.sleep(0)
        else:
            return


async def _connected(house: House) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with reachable(_path(house)) as address:
        return await asyncio.open_unix_connection(address)


@asynccontextmanager
async def _raw(house: House) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await _connected(house)
    yield reader, writer
    writer.close()


@pytest.mark.req("OPS-7")
@pytest.mark.parametrize(
    "line",
    [b"\n", b"[]\n", b"no json\n", b'{"hello": 1}\n', b"\xff\xfe\n", b"x" * (MAX_LINE + 10) + b"\n"],
    ids=["empty", "no object", "no JSON", "no greeting", "no UTF-8", "too long"],
)
async def test_whoever_does_not_speak_the_protocol_is_cut_off_and_nobody_else_notices(
    house: House, line: bytes
) -> None:
    await asyncio.wait_for(_answered(_path(house)), WAIT_S)
    async with _raw(house) as (reader, writer):
        writer.write(line)
        async with asyncio.timeout(WAIT_S):
            greeting = json.loads(await reader.readline())
            try:
                rest = await reader.read()
            except ConnectionResetError:
                rest = b""
    assert (greeting["hello"]["control"], rest) == (1, b"")
    assert (await ask(_path(house), "status"))["terminals"] == []


@pytest.mark.req("OPS-7")
async def test_another_version_of_the_protocol_is_told_apart(house: House) -> None:
    await asyncio.wait_for(_answered(_path(house)), WAIT_S)
    async with _raw(house) as (reader, writer):
        writer.write(b'{"hello": {"control": 99}}\n')
        async with asyncio.timeout(WAIT_S):
            await reader.readline()
            assert await reader.read() == b""


@pytest.mark.req("OPS-7")
async def test_connections_over_the_bound_are_refused_with_words(house: House) -> None:
    await asyncio.wait_for(_answered(_path(house)), WAIT_S)
    held = [await _connected(house) for _ in range(MAX_CONNECTIONS)]
    for reader, _ in held:
        await reader.readline()
    with pytest.raises(DaemonRefused, match="32 programs are connected already"):
        await ask(_path(house), "status")
    for _, writer in held:
        writer.close()
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                await ask(_path(house), "status")
            except DaemonRefused:
                await asyncio.sleep(0)
            else:
                break


@pytest.mark.req("ADP-9")
async def test_a_joined_terminal_is_answered_streamed_to_and_presses_by_number(
    house: House, sit: Sit
) -> None:
    seat = await sit()
    seat.console.type("plum")
    await seat.console.sees("You said: plum")
    seat.console.type("use count {}")
    await seat.console.sees("1 Once  2 This session  3 Always  4 Deny")
    seat.console.type("1")
    await seat.console.sees("(Approved, running it.)")
    await seat.console.sees("returned: run 1")
    await house.quiet()

    assert any("You said: plum" in live for live in seat.console.live)
    assert (await seat.leave()).exit_code == 0
    assert house.lab.runs == [("count", {})]
    assert await house.values("SELECT DISTINCT requester FROM turns") == ["terminal:local"]


@pytest.mark.req("ADP-9", "AGT-9")
async def test_stop_from_a_joined_terminal_stops_the_running_turn(house: House, sit: Sit) -> None:
    seat = await sit()
    slow = house.model.hold("slow")
    seat.console.type("slow")
    await slow.reached()
    seat.console.type(Key.INTERRUPT)
    await seat.console.sees("Stopped.")
    assert await house.values("SELECT state FROM turns") in (["cancelled"], ["running"])


@pytest.mark.req("ADP-9", "ACC-2")
async def test_two_terminals_at_once_are_two_conversations_of_the_operator(house: House, sit: Sit) -> None:
    first, second = await sit(), await sit()
    first.console.type("plum")
    second.console.type("pear")
    await first.console.sees("You said: plum")
    await second.console.sees("You said: pear")
    second.console.type("/whoami")
    await second.console.sees("Your role is admin.")
    assert (first.account, second.account) == ("local", "local-2")
    assert not any("pear" in text for text in first.console.shown)
    assert (await ask(_path(house), "status"))["terminals"] == ["local", "local-2"]
    await first.leave()
    third = await sit()
    assert third.account == "local"


@pytest.mark.req("ADP-9", "DLV-6")
async def test_what_could_not_be_shown_any_more_waits_for_the_next_terminal(house: House, sit: Sit) -> None:
    first = await sit()
    slow = house.model.hold("slow")
    first.console.type("slow")
    await slow.reached()
    await first.leave()
    slow.open()
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")

    second = await sit()
    await second.console.sees("You said: slow")
    assert await ask(_path(house), "outbox") == []


@pytest.mark.req("ADP-9", "DLV-1")
async def test_a_terminal_joins_again_after_a_restart_and_its_words_count_once(
    house: House, sit: Sit
) -> None:
    seat = await sit()
    slow = house.model.hold("slow")
    seat.console.type("slow")
    await slow.reached()
    await house.crash()
    slow.open()
    seat.console.type("meanwhile")
    await house.start()
    await seat.console.sees("You said: slow")
    await seat.console.sees("You said: meanwhile")

    assert seat.said == ["The daemon is gone; waiting up to 30 s for it to come back …", "It is back."]
    assert await house.values("SELECT COUNT(*) FROM turns") == [2]
    assert sum("You said: slow" in text for text in seat.console.shown) == 1


@pytest.mark.req("ADP-9")
async def test_a_daemon_that_does_not_come_back_is_one_clear_line(
    house: House, sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.control.remote.GONE_S", 0.3)
    monkeypatch.setattr("gateway.control.remote.RETRY_S", 0.05)
    seat = await sit()
    seat.console.type("plum")
    await seat.console.sees("You said: plum")
    await house.stop()
    async with asyncio.timeout(WAIT_S):
        with pytest.raises(ConnectionLost, match="did not come back; start it again"):
            await seat.running


@pytest.mark.req("OPS-4")
async def test_restart_asked_for_at_a_terminal_is_told_there_when_it_is_done(house: House, sit: Sit) -> None:
    seat = await sit()
    seat.console.type("/restart")
    await seat.console.sees("I am restarting")
    assert house._running is not None
    assert await asyncio.wait_for(house._running, WAIT_S) == 75
    await house._leave()
    await house.start()
    await seat.console.sees("I am back: the restart is done.")
    await house.quiet()
    assert sum("restart is done" in text for text in seat.console.shown) == 1
