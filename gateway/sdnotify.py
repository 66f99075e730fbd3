"""Tells systemd how the daemon is (`Type=notify`, `WatchdogSec=`); silent where systemd did not start it.

Source of the protocol: sd_notify(3), sd_watchdog_enabled(3).
"""

import os
import socket


def notify(state: str) -> None:
    """Send one state such as "READY=1" or "STOPPING=1"."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # an abstract socket is written with a leading NUL
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        sock.connect(address)
        sock.sendall(state.encode())


def watchdog_s() -> float | None:
    """How often "WATCHDOG=1" is to be sent, in seconds: half of what systemd waits. None: it does not wait."""
    for_us = os.environ.get("WATCHDOG_PID") in (None, str(os.getpid()))
    usec = os.environ.get("WATCHDOG_USEC", "")
    return int(usec) / 2_000_000 if for_us and usec.isdecimal() and int(usec) > 0 else None
