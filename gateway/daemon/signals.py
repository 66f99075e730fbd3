"""What signals do to the daemon's process, and how long it may take to end.

SIGTERM, SIGINT: an orderly stop; a second one ends the process at once, which loses nothing: what was committed is
safe, what was not was never acknowledged. SIGHUP: `hang_up`. SIGPIPE is ignored by Python: a closed pipe is an error
of the one write. A stop that takes longer than its bound is cut short.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

import structlog

log = structlog.get_logger()


def on_signals(
    *, stop: Callable[[], None], hang_up: Callable[[], None], last_resort: Callable[[], None]
) -> None:
    """Install the handlers; `last_resort` is called before the process ends at once."""
    loop = asyncio.get_running_loop()

    def at_once(number: int, _frame: object) -> None:
        last_resort()
        os._exit(128 + number)

    def first(number: int) -> None:
        log.info("daemon.signal", signal=signal.Signals(number).name)
        stop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(each)
            signal.signal(each, at_once)

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, first, each)
    loop.add_signal_handler(signal.SIGHUP, hang_up)


def end_within(seconds: float, code: Callable[[], int], last_resort: Callable[[], None]) -> threading.Timer:
    """End the process after so long, whatever still runs in it; cancel the timer if it ended before."""

    def cut_short() -> None:
        log.error("daemon.cut_short", after_s=seconds)
        last_resort()
        os._exit(code())

    # A thread: the loop itself may be what does not end.
    timer = threading.Timer(seconds, cut_short)
    timer.daemon = True
    timer.start()
    return timer
