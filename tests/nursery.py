"""Processes that start quickly: one that has imported everything forks a `parley …` whenever it is asked.

A start takes seconds, nearly all of it imports; hundreds of tests and kills would consist of them. The fork is the real
command from its command line on: a process of its own, with its own folder, environment and descriptors, killed like
any other. `tests/daemon/test_fresh.py` and `bench` pay for the imports.

    python -m tests.nursery FD      speaks JSON over the socket FD: {"args", "cwd", "env"} with the three standard
                                    descriptors is answered with a pid, {"pid"} with its exit code once it has ended
"""

import ctypes
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = (
    "gateway.cli",
    "agent.history",
    "agent.providers.demo",
    "agent.providers.openai",
    "agent.tools.mcp_transport",
    "agent.tools.mcp_results",
    "adapters.telegram.adapter",
    "adapters.discord.adapter",
    "adapters.slack.adapter",
)
PR_SET_PDEATHSIG = 1
LONGEST = 1_000_000
ROOT = Path(__file__).resolve().parents[1]


class Nursery:
    """The asking side, in the process of the tests; one nursery serves all of them, see `nursery`."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.nursery", str(theirs.fileno())],
            env={**kept, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def start(self, args: Sequence[str], cwd: Path, env: Mapping[str, str], fds: tuple[int, int, int]) -> int:
        """Start `parley …` with these as standard input, output and error; returns its process id."""
        order = json.dumps({"args": list(args), "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(self._socket, [order], list(fds))
        return self._answer()

    def code(self, pid: int) -> int:
        """The exit code of one that has ended, negative for a signal; waits for it otherwise."""
        self._socket.send(json.dumps({"pid": pid}).encode())
        return self._answer()

    def _answer(self) -> int:
        said = self._socket.recv(LONGEST)
        if not said:
            raise RuntimeError("the process that forks the others has ended; see its error above")
        return int(said)


_nurseries: list[Nursery] = []


def nursery() -> Nursery:
    """This process's nursery; made when first asked for, gone with the process."""
    if not _nurseries:
        _nurseries.append(Nursery())
    return _nurseries[0]


def serve(asked: socket.socket) -> list[str] | None:
    """Fork for every order; in the fork the arguments to be run with, None at the end of the orders."""
    _die_with_parent()
    for name in MODULES:
        import_module(name)
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a fork takes only its own thread along"
    while True:
        said, fds, _, _ = socket.recv_fds(asked, LONGEST, 3)
        if not said:
            return None
        order = json.loads(said)
        if "pid" in order:
            answer = os.waitstatus_to_exitcode(os.waitpid(order["pid"], 0)[1])
        elif (answer := os.fork()) == 0:
            asked.close()
            return _become(order, fds)
        for fd in fds:
            os.close(fd)
        asked.send(str(answer).encode())


def _die_with_parent() -> None:
    """Whoever aborts a run by killing it leaves nothing behind; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(order: Mapping[str, Any], fds: Sequence[int]) -> list[str]:
    _die_with_parent()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    for standard, fd in enumerate(fds):
        os.dup2(fd, standard)
        os.close(fd)
    return [str(each) for each in order["args"]]


if __name__ == "__main__":
    if (arguments := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        from gateway.cli import main

        sys.argv = ["parley", *arguments]
        main()
