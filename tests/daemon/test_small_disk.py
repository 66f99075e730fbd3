"""The real daemon on a disk that really fills up: a small tmpfs, which only root (or an own user namespace) can mount.

What a full disk means is shown everywhere by `tests/flow/test_trouble.py`, with a limit of SQLite's own; this is the
same with the kernel's.
"""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.daemon.conftest import Site

SLOW_S = 60.0
SIZE_MB = 3
WORDS = "plum " * 700
"""Below what Telegram takes in one message."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=0700", "parley-test", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)


async def test_what_is_said_on_a_full_disk_is_answered_once_there_is_space(
    small_disk: Path, site: Site
) -> None:
    people = [site.telegram.add_user(100 + number, name=f"Ann {number}") for number in range(4)]

    def answers(number: int) -> int:
        return sum(f"number {number} " in message.text for message in site.telegram.replies(people[number]))

    async with site.daemon() as daemon:
        await daemon.start()
        await daemon.wait_printed("daemon.serving")
        site.telegram.say(people[0], f"number 0 {WORDS}")
        await site.telegram.wait_for(lambda: answers(0), SLOW_S)
        ballast = small_disk / "ballast"
        fill(ballast)
        for number in (1, 2, 3):
            site.telegram.say(people[number], f"number {number} {WORDS}")
        await daemon.wait_printed("the disk is full")
        ballast.unlink()
        await site.telegram.wait_for(lambda: all(answers(number) for number in (1, 2, 3)), SLOW_S)
        assert await daemon.stop() == 0

    assert [answers(number) for number in range(4)] == [1, 1, 1, 1]
