"""What a chat sees of a running turn beside its words: "typing…", and a mark on the message that is answered.

All of it is best effort: nothing waits for it, and whatever fails is a line in the log.
"""

import asyncio
from collections.abc import Callable

import structlog

from gateway.adapter import Reaction, Reacts, ShowsTyping
from gateway.errors import SendError
from gateway.messages import Target

log = structlog.get_logger()

# A turn that is shorter shows nothing.
TYPING_AFTER_S = 1.0

# A turn may run for hours; nobody watches a mark for longer than this.
TYPING_AT_MOST_S = 900.0

# For a mark to follow the one before it.
_REACT_S = 30.0


class Presence:
    """See the module. `message_id`: the message to mark, if marks are wanted.

    `is_silent` tells, each time, that the chat needs no typing mark now.
    """

    def __init__(
        self,
        target: Target,
        message_id: str | None,
        *,
        adapter: object,
        typing_gap_s: float,
        is_silent: Callable[[], bool],
        group: asyncio.TaskGroup | None,
    ) -> None:
        self._target = target
        self._message_id = message_id
        self._adapter = adapter
        self._typing_gap_s = typing_gap_s
        self._is_silent = is_silent
        self._group = group
        self._timer: asyncio.TimerHandle | None = None
        self._typing: asyncio.Task[None] | None = None
        self._reacting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The turn runs: show typing soon, and again until `end`."""
        self.end()
        if isinstance(self._adapter, ShowsTyping) and self._group is not None:
            self._timer = asyncio.get_running_loop().call_later(TYPING_AFTER_S, self._start)

    def end(self) -> None:
        """The turn runs no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._typing is not None:
            self._typing.cancel()

    def mark(self, reaction: Reaction) -> None:
        """Put this mark on the message, after the one before."""
        adapter, message_id = self._adapter, self._message_id
        if message_id is None or self._group is None or not isinstance(adapter, Reacts):
            return
        self._reacting = self._group.create_task(
            self._react(adapter, message_id, reaction, self._reacting), name="delivery.reaction"
        )

    def _start(self) -> None:
        if self._group is not None and isinstance(self._adapter, ShowsTyping):
            self._typing = self._group.create_task(self._type(self._adapter), name="delivery.typing")

    async def _type(self, adapter: ShowsTyping) -> None:
        for _ in range(max(1, int(TYPING_AT_MOST_S / self._typing_gap_s))):
            if not self._is_silent():
                try:
                    await adapter.show_typing(self._target)
                except SendError as error:
                    log.debug("delivery.typing_failed", reason=str(error))
                except Exception:
                    # An adapter's bug must not end the task group, which is the daemon.
                    log.exception("delivery.adapter_failed", platform=self._target.platform)
                    return
            await asyncio.sleep(self._typing_gap_s)

    async def _react(
        self, adapter: Reacts, message_id: str, reaction: Reaction, before: "asyncio.Task[None] | None"
    ) -> None:
        try:
            if before is not None:
                await asyncio.wait([before], timeout=_REACT_S)
            await adapter.react(self._target, message_id, reaction)
        except SendError as error:
            log.debug("delivery.reaction_failed", reason=str(error))
        except Exception:
            # As above.
            log.exception("delivery.adapter_failed", platform=self._target.platform)
