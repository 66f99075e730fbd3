"""Where the control socket is, and whose: made when the daemon starts, removed when it ends.

The process lock of the state directory decides who is the daemon; whoever holds it may replace a socket that a killed
process left behind.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SOCKET = "control.sock"

# sun_path of Linux and macOS, with room for its NUL: unix(7).
_LONGEST = 100


@contextmanager
def reachable(path: Path) -> Iterator[str]:
    """The socket's path as a system call takes it; a long one by way of its folder's descriptor."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def bind(path: Path) -> socket.socket:
    """A listening socket at `path`, for its owner alone; replaces what a dead daemon left there.

    Raises:
        OSError: it cannot be made there.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The folder is 0700 already; the mask closes the moment between bind and chmod.
    mask = os.umask(0o177)
    try:
        with reachable(path) as address:
            made.bind(address)
        path.chmod(0o600)
        made.listen()
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    finally:
        os.umask(mask)
    return made


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path` now (device, inode); None if there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def remove(path: Path, ours: tuple[int, int] | None) -> None:
    """Remove the socket, if it is still the one we made."""
    if ours is not None and identity(path) == ours:
        with suppress(OSError):
            path.unlink()
