"""The daemon's local door: `state_dir/control.sock`, for the operator's commands and for joined terminals.

JSON lines over a unix socket with mode 0600. `address` finds, makes and removes the socket, `wire` carries calls both
ways, `codec` turns values into JSON, `server` and `terminals` are the daemon's side, `client` and `remote` the other.
Questions are answered by `gateway.api`; what a terminal says goes through `intake` like everybody else's words.
"""

from gateway.control.address import SOCKET
from gateway.control.client import DaemonRefused, NoDaemon, ask
from gateway.control.remote import RemoteGateway
from gateway.control.server import ControlServer, Operations
from gateway.control.terminals import JoinTerminal, Link, Terminals

__all__ = [
    "SOCKET",
    "ControlServer",
    "DaemonRefused",
    "JoinTerminal",
    "Link",
    "NoDaemon",
    "Operations",
    "RemoteGateway",
    "Terminals",
    "ask",
]
