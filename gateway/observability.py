"""Logs: one line per event, through one door, without secrets.

Our own events (`structlog.get_logger()`, dotted past tense, values as keywords) and the records of every
library meet in one handler on stderr, where the redactor sees event, values, exception and traceback at every
level. `session` and `turn` are bound once, at intake, with `structlog.contextvars.bound_contextvars`, and are
on every line after that. A log that cannot be written never stops the daemon.
"""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from gateway.redaction import Redactor

LogFormat = Literal["console", "json"]

OUR_PACKAGES = ("gateway", "adapters", "agent")
"""Loggers below these have the level that was asked for; all others are libraries, with a level of their own."""

log = structlog.get_logger(__name__)


def setup_logging(
    *,
    level: str = "info",
    format: LogFormat = "console",  # noqa: A002 - the name of the key in the configuration
    redactor: Redactor,
    libraries: str = "warning",
    stream: TextIO | None = None,
) -> None:
    """Send everything that is logged in this process to one place; may be called again, the last call holds.

    Args:
        level: The lowest level shown of our own events, by name, without regard to case.
        format: `console`: readable lines, coloured on a terminal; `json`: one JSON object a line.
        redactor: Hides secrets in all of it.
        libraries: The same for every library: at INFO some log each request, with the token in its address.
        stream: Where lines go; stderr by default.
    """
    stream = sys.stderr if stream is None else stream
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
    shared: list[Processor] = [structlog.contextvars.merge_contextvars, structlog.stdlib.add_log_level, stamp]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        # A module's logger made before this call must follow it, and again the next call.
        cache_logger_on_first_use=False,
    )
    handler = _SafeHandler(stream)
    handler.setFormatter(_Formatter(redactor, format, shared, colors=format == "console" and stream.isatty()))
    # What a library put there beforehand would print past the redactor.
    logging.basicConfig(level=libraries.upper(), handlers=[handler], force=True)
    for existing in list(logging.Logger.manager.loggerDict.values()):
        if isinstance(existing, logging.Logger):
            existing.handlers.clear()
            existing.propagate = True
            existing.setLevel(logging.NOTSET)
    for name in OUR_PACKAGES:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(capture=True)
    logging.raiseExceptions = False


def log_uncaught() -> None:
    """Send exceptions that nobody caught, in any thread, through the log instead of to stderr bare."""
    sys.excepthook = _log_crash
    sys.unraisablehook = lambda args: _log_lost("exception.ignored", args.exc_value, source=repr(args.object))
    threading.excepthook = lambda args: _log_lost(
        "thread.crashed", args.exc_value, thread=args.thread.name if args.thread else None
    )


def log_loop_exception(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """For `loop.set_exception_handler`: what asyncio would print goes through the log."""
    task = context.get("task") or context.get("future")
    name = task.get_name() if isinstance(task, asyncio.Task) else None
    log.error("loop.exception", reason=context["message"], task=name, exc_info=context.get("exception"))


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    log.critical("process.crashed", exc_info=(kind, error, trace))


def _log_lost(event: str, error: BaseException | None, **values: Any) -> None:
    if not isinstance(error, SystemExit):
        log.error(event, exc_info=error, **values)


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Renders our events and foreign records alike, redacted."""

    def __init__(
        self,
        redactor: Redactor,
        kind: LogFormat,
        shared: list[Processor],
        *,
        colors: bool,
    ) -> None:
        render: Processor
        if kind == "json":
            render = structlog.processors.JSONRenderer(
                default=lambda value: redactor.text(repr(value)), ensure_ascii=False
            )
        else:
            render = structlog.dev.ConsoleRenderer(
                colors=colors, exception_formatter=structlog.dev.plain_traceback
            )
        super().__init__(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[
                self.remove_processors_meta,
                structlog.processors.StackInfoRenderer(),
                structlog.processors.format_exc_info,
                _redacting(redactor),
                render,
            ],
        )
        # A readable line is searched once more as a whole, for what the values' repr brought along. A JSON
        # line is not: there each value was searched, and a cut across two of them could leave no JSON.
        self._finish: Callable[[str], str] = str if kind == "json" else redactor.text

    def format(self, record: logging.LogRecord) -> str:
        return self._finish(super().format(record))


def _redacting(redactor: Redactor) -> Processor:
    def redact(_logger: WrappedLogger, _method: str, event_dict: EventDict) -> EventDict:
        redacted: EventDict = redactor.value(event_dict)
        return redacted

    return redact


class _SafeHandler(logging.StreamHandler[TextIO]):
    """Writes lines and gives up on one that cannot be written, never on the daemon."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        error = sys.exc_info()[1]
        if isinstance(error, BrokenPipeError):
            self._let_go()
        elif not isinstance(error, OSError):
            # A value that cannot be rendered. Its content stays out: nothing has redacted it.
            line = f"log.failed logger={record.name} line={record.lineno} error={type(error).__name__}\n"
            try:
                self.stream.write(line)
            except OSError:
                return

    def _let_go(self) -> None:
        # Whoever read our output is gone for good. What lies in the stream's buffer would make the
        # interpreter end with status 120; into /dev/null it drains (Python's signal docs, "Note on SIGPIPE").
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, self.stream.fileno())
        except (OSError, ValueError):
            return
        finally:
            os.close(null)
