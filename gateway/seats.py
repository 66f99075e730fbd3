"""One bot is served by one process of a machine: two would each answer a part of its messages, or all of them twice.

A seat is a name that the operating system gives to one process and takes back when that ends, however it ends: on Linux
an abstract socket (unix(7)), which leaves no file behind, is seen by all users and through systemd's PrivateTmp;
elsewhere a lock on a file. Other machines and other network namespaces (containers) are out of its sight.
"""

import errno
import fcntl
import hashlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gateway.errors import StoreUnavailable


class Closes(Protocol):
    """A seat that is taken."""

    def close(self) -> None:
        """Give it back."""
        ...


class Seats:
    """The seats that this process has; `claim` is how it gets one, None if another has it."""

    def __init__(self, claim: Callable[[str], Closes | None] | None = None) -> None:
        self._claim = claim or (claim_socket if sys.platform == "linux" else claim_file)
        self._held: list[Closes] = []

    def take(self, name: str) -> bool:
        """Take a seat until `leave`; False if another has it.

        `name` is best secret, so that no other user of the machine can take it; only its hash is used.
        """
        seat = self._claim("parley-" + hashlib.sha256(name.encode()).hexdigest()[:32])
        if seat is not None:
            self._held.append(seat)
        return seat is not None

    def leave(self) -> None:
        """Give all seats back."""
        while self._held:
            self._held.pop().close()


def claim_socket(name: str) -> Closes | None:
    """Bind an abstract socket, to which nobody ever connects; a lock on a file where that is not allowed."""
    seat = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        seat.bind(f"\0{name}")
    except OSError as error:
        seat.close()
        return None if error.errno == errno.EADDRINUSE else claim_file(name)
    return seat


def claim_file(name: str) -> Closes | None:
    """Lock a file of this user's in the folder for temporary files; the file stays.

    Raises:
        StoreUnavailable: it cannot be made.
    """
    path = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}.lock"
    try:
        seat = path.open("a")
    except OSError as error:
        raise StoreUnavailable(f"{path}: cannot be written ({error.strerror})") from error
    try:
        fcntl.flock(seat, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        seat.close()
        return None
    return seat
