"""Waiting until something is so in a simulator, without polling.

Every simulator calls `Changes.notify` after each thing that happened; whoever waits looks again then and only
then.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Wakes everybody who waits each time something happened. Costs nothing while nobody waits."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def notify(self) -> None:
        """Say that something happened."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def until(
        self, predicate: Callable[[], T | None], timeout_s: float, describe: Callable[[], str] = lambda: ""
    ) -> T:
        """Return the predicate's first truthy value.

        Args:
            predicate: Looked at once at the start and after every change; must be cheap and without effects.
            timeout_s: After this many seconds `TimeoutError` is raised.
            describe: What to add to the error's text, so that a failing test tells what was there instead.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while not (value := predicate()):
                    future = asyncio.get_running_loop().create_future()
                    self._waiting.append(future)
                    await future
        except TimeoutError:
            raise TimeoutError(f"not so within {timeout_s} s. {describe()}") from None
        return value
