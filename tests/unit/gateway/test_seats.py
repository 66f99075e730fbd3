"""Seats: one holder at a time over processes, given back by whatever ends the holder."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.seats import Closes, Seats, claim_file, claim_socket

pytestmark = pytest.mark.req("OPS-5")

Claim = Callable[[str], Closes | None]
CLAIMS = [
    pytest.param(
        claim_socket, marks=pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are Linux's")
    ),
    pytest.param(claim_file),
]
HOLDER = (
    "import sys, tempfile; from gateway import seats\n"
    "tempfile.tempdir = sys.argv[3]\n"
    "mine = seats.Seats(getattr(seats, sys.argv[1]))\n"
    "print(mine.take(sys.argv[2]), flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_seat_has_one_holder_until_it_is_left(claim: Claim, folder: Path) -> None:
    one, two, name = Seats(claim), Seats(claim), f"bot of {folder}"
    assert (one.take(name), two.take(name), two.take(f"{name}'s other")) == (True, False, True)
    assert not one.take(name)
    one.leave()
    assert two.take(name)
    two.leave()


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_seat_of_another_process_is_taken_until_that_is_killed(claim: Claim, folder: Path) -> None:
    name = f"bot of {folder}"
    args = [sys.executable, "-c", HOLDER, claim.__name__, name, str(folder)]
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert not Seats(claim).take(name)
        holder.kill()
        holder.wait()
    mine = Seats(claim)
    assert mine.take(name)
    mine.leave()


def test_the_name_of_a_lock_file_tells_nothing(folder: Path) -> None:
    seats = Seats(claim_file)
    assert seats.take("telegram 123:secret")
    seats.leave()
    (file,) = folder.iterdir()
    assert "secret" not in file.name
