"""The other side: asks the running daemon one question, or says that there is none."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.control import address
from gateway.control.wire import MAX_LINE, Handler, NoteHandler, Peer, PeerFailed, PeerGone
from gateway.errors import ParleyError

CONNECT_S = 5.0
ANSWER_S = 30.0


class NoDaemon(ParleyError):
    """Nobody serves this state directory."""


class DaemonRefused(ParleyError):
    """The daemon is there and answers, but not as asked."""


async def connect(path: Path, *, handlers: Mapping[str, Handler], notes: Mapping[str, NoteHandler]) -> Peer:
    """A greeted connection to the daemon; the caller runs it.

    Raises:
        NoDaemon: there is none.
        DaemonRefused: there is one, of another version or with too many connections.
    """
    try:
        async with asyncio.timeout(CONNECT_S):
            with address.reachable(path) as reachable:
                reader, writer = await asyncio.open_unix_connection(reachable, limit=MAX_LINE)
            peer = Peer(reader, writer, handlers=handlers, notes=notes)
            await peer.greet()
    except (OSError, TimeoutError, PeerGone) as error:
        raise NoDaemon(f"no daemon answers at {path}") from error
    except PeerFailed as error:
        raise DaemonRefused(str(error)) from error
    return peer


async def ask(path: Path, name: str, **args: object) -> Any:
    """One question and its answer.

    Raises:
        NoDaemon: nobody is there to answer.
        DaemonRefused: the answer is an error.
    """
    peer = await connect(path, handlers={}, notes={})
    async with asyncio.TaskGroup() as group:
        running = group.create_task(peer.run())
        try:
            return await peer.call(name, args, timeout_s=ANSWER_S)
        except (PeerGone, TimeoutError) as error:
            failure: ParleyError = NoDaemon("the daemon went away before it answered")
            failure.__cause__ = error
        except PeerFailed as error:
            failure = DaemonRefused(str(error))
        finally:
            running.cancel()
    raise failure
