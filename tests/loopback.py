"""No test reaches anything but this machine: neither a real platform nor a real model, not by accident either."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

import pytest


class NetworkBlocked(RuntimeError):
    """A test tried to leave the machine. No OSError: a retry or a fallback must not swallow it."""


def is_local(host: object) -> bool:
    """Whether an address or name means this machine."""
    text = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if text in {"localhost", "0.0.0.0", "::"}:
        return True
    try:
        return ip_address(text.split("%")[0]).is_loopback
    except ValueError:
        return text == socket.gethostname()


@contextmanager
def loopback_only() -> Iterator[None]:
    """While open, connections and look-ups beyond this machine raise `NetworkBlocked`.

    Names below `.invalid` and `.test` (RFC 6761) fail like names that do not exist.
    """
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(address: Any) -> None:
        if isinstance(address, tuple) and not is_local(address[0]):
            raise NetworkBlocked(f"a test connects to {address[0]}")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if str(host).endswith((".invalid", ".test")):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not is_local(host):
            raise NetworkBlocked(f"a test looks up {host}")
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield
