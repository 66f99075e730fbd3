"""What systemd is told of the daemon."""

import asyncio
import os
import socket
from collections.abc import Iterator

import pytest

from gateway.control.address import reachable
from gateway.sdnotify import watchdog_s
from tests.flow.conftest import Open


@pytest.fixture
def systemd(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket that systemd listens at; the watchdog waits a tenth of a second."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening,
        reachable(tmp_path / "notify") as address,
    ):
        listening.bind(address)
        listening.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        monkeypatch.setenv("WATCHDOG_USEC", "100000")
        monkeypatch.delenv("WATCHDOG_PID", raising=False)
        yield listening


@pytest.mark.req("OPS-3", "OPS-4")
async def test_systemd_hears_of_start_life_and_stop(systemd: socket.socket, house_of: Open) -> None:
    house = await house_of()
    loop, heard = asyncio.get_running_loop(), []
    async with asyncio.timeout(15):
        while heard.count("WATCHDOG=1") < 3:
            heard.append((await loop.sock_recv(systemd, 100)).decode())
        stopping = asyncio.create_task(house.stop())
        while heard[-1] != "STOPPING=1":
            heard.append((await loop.sock_recv(systemd, 100)).decode())
        await stopping
    assert heard[0] == "READY=1"
    assert set(heard[1:-1]) == {"WATCHDOG=1"}


@pytest.mark.req("OPS-3")
@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 30.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_is_fed_twice_as_often_as_it_bites(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: float | None
) -> None:
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert watchdog_s() == expected
