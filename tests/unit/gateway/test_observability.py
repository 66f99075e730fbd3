"""What a log line has, and what it never has."""

import asyncio
import io
import json
import logging
import signal
import subprocess
import sys
import threading
import warnings

import pytest
import structlog
from openai import APIConnectionError, AsyncOpenAI
from structlog.contextvars import bound_contextvars
from telegram import Bot
from telegram.error import NetworkError
from telegram.request import HTTPXRequest

from gateway.observability import log_loop_exception, log_uncaught, setup_logging
from gateway.redaction import Redactor

BOT_TOKEN = "123456789:AAFAKEfakeFAKEfakeFAKEfakeFAKEfake000"
PLAIN_SECRET = "a-secret-of-no-known-shape"
SECRETS = (BOT_TOKEN, PLAIN_SECRET)

log = structlog.get_logger("gateway.tests")


@pytest.fixture(autouse=True)
def logging_as_it_was():
    """Puts back everything `setup_logging` and `log_uncaught` change in the process."""
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    levels = {name: logging.getLogger(name).level for name in logging.root.manager.loggerDict}
    hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)
    for name in list(logging.root.manager.loggerDict):
        logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))
    sys.excepthook, sys.unraisablehook, threading.excepthook = hooks
    structlog.reset_defaults()


class Output(io.StringIO):
    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


def to_json(level: str = "info", libraries: str = "warning") -> Output:
    output = Output()
    setup_logging(level=level, format="json", redactor=Redactor(SECRETS), libraries=libraries, stream=output)
    return output


@pytest.mark.req("OPS-8")
def test_a_line_has_the_event_its_values_and_the_turn_it_belongs_to():
    output = to_json()

    with bound_contextvars(session="s1", turn="t1"):
        log.info("turn.finished", pieces=3, outcome="done")
        logging.getLogger("some.library").warning("took %d s", 5)
    log.info("daemon.stopped")

    first, second, third = output.lines
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "event": "turn.finished",
        "level": "info",
        "outcome": "done",
        "pieces": 3,
        "session": "s1",
        "turn": "t1",
    }
    assert (second["event"], second["logger"], second["turn"]) == ("took 5 s", "some.library", "t1")
    assert "turn" not in third


def test_a_readable_line_has_the_same_without_colours_off_a_terminal():
    output = Output()
    setup_logging(redactor=Redactor(SECRETS), stream=output)

    log.warning("delivery.retry_scheduled", attempt=2, reason=f"no {PLAIN_SECRET}")

    (line,) = output.getvalue().splitlines()
    assert line.split()[1:] == [
        "[warning",
        "]",
        "delivery.retry_scheduled",
        "attempt=2",
        "reason='no",
        "***'",
    ]


def test_a_level_hides_what_is_below_and_libraries_have_one_of_their_own():
    output = to_json(level="debug")

    log.debug("a.shown")
    logging.getLogger("httpx").info("hidden")
    logging.getLogger("telegram.ext.Updater").debug("hidden")
    logging.getLogger("httpx").warning("shown")

    assert [line["event"] for line in output.lines] == ["a.shown", "shown"]


def test_a_second_call_holds_for_loggers_that_were_used_before():
    first = to_json()
    log.info("first.used")
    second = to_json(level="warning")
    log.info("second.hidden")
    log.warning("second.shown")

    assert [line["event"] for line in first.lines] == ["first.used"]
    assert [line["event"] for line in second.lines] == ["second.shown"]


def test_a_library_that_prints_by_itself_is_brought_back():
    own = Output()
    library = logging.getLogger("chatty.library")
    library.addHandler(logging.StreamHandler(own))
    library.propagate = False

    output = to_json()
    library.error("failed with %s", PLAIN_SECRET)

    assert own.getvalue() == ""
    assert [line["event"] for line in output.lines] == ["failed with ***"]


def fail() -> None:
    raise RuntimeError(f"POST https://api.telegram.org/bot{BOT_TOKEN}/getMe failed") from ValueError(
        PLAIN_SECRET
    )


@pytest.mark.req("ACC-4")
@pytest.mark.parametrize("kind", ["console", "json"])
def test_secrets_are_hidden_in_event_values_objects_exceptions_and_tracebacks(kind):
    output = Output()
    setup_logging(level="debug", format=kind, redactor=Redactor(SECRETS), stream=output)

    log.info(
        PLAIN_SECRET,
        value=BOT_TOKEN,
        thing=ValueError(PLAIN_SECRET),
        password="x y",
        nested={"a": [BOT_TOKEN]},
    )
    try:
        fail()
    except RuntimeError:
        log.exception("turn.failed")
        logging.getLogger("some.library").exception("failed at %s", f"{BOT_TOKEN[:20]}\n{BOT_TOKEN[20:]}")

    text = output.getvalue()
    assert text.count("RuntimeError: POST https://api.telegram.org/bot***/getMe failed") == 2
    assert text.count("ValueError: ***") == 2
    assert "failed at ***" in text
    assert "x y" not in text
    for secret in (*SECRETS, BOT_TOKEN[:20], BOT_TOKEN[20:]):
        assert secret not in text


@pytest.mark.req("ACC-4")
@pytest.mark.parametrize("kind", ["console", "json"])
async def test_no_library_logs_a_token_or_key_at_its_lowest_level(kind):
    # C103a: the libraries log every request's address when asked to, and raise errors that have it.
    output = Output()
    setup_logging(level="debug", format=kind, redactor=Redactor(SECRETS), libraries="debug", stream=output)
    nowhere = "http://127.0.0.1:9"  # discard: nobody listens

    bot = Bot(BOT_TOKEN, base_url=f"{nowhere}/bot", request=HTTPXRequest(connect_timeout=5))
    model = AsyncOpenAI(api_key=PLAIN_SECRET, base_url=f"{nowhere}/v1?key={PLAIN_SECRET}", max_retries=0)
    with pytest.raises(NetworkError):
        await bot.get_me()
    with pytest.raises(APIConnectionError) as caught:
        await model.models.list()
    log.error("provider.failed", reason=str(caught.value), exc_info=caught.value)
    await model.close()

    text = output.getvalue()
    for library in ("telegram", "httpcore", "openai"):
        assert library in text
    for secret in SECRETS:
        assert secret not in text


@pytest.mark.req("ACC-4")
async def test_what_nobody_caught_goes_through_the_log_too():
    output = to_json()
    log_uncaught()
    asyncio.get_running_loop().set_exception_handler(log_loop_exception)

    thread = threading.Thread(target=fail, name="worker")
    thread.start()
    thread.join()
    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0)
    sys.excepthook(RuntimeError, RuntimeError(PLAIN_SECRET), None)
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn_explicit(f"careful with {PLAIN_SECRET}", UserWarning, "somewhere.py", 1)

    lines = output.lines
    assert [(line["event"].split("\n")[0], line["level"]) for line in lines] == [
        ("thread.crashed", "error"),
        ("loop.exception", "error"),
        ("process.crashed", "critical"),
        ("somewhere.py:1: UserWarning: careful with ***", "warning"),
    ]
    assert lines[0]["thread"] == "worker"
    for secret in SECRETS:
        assert secret not in output.getvalue()


def test_a_value_that_cannot_be_rendered_costs_its_line_only():
    class Broken:
        def __repr__(self) -> str:
            raise KeyError(PLAIN_SECRET)

    output = Output()
    setup_logging(redactor=Redactor(SECRETS), stream=output)

    log.info("a.lost", value=Broken())
    log.info("a.kept")

    first, second = output.getvalue().splitlines()
    assert first.startswith("log.failed logger=gateway.tests ")
    assert first.endswith(" error=KeyError")
    assert "a.kept" in second


LOGS_FOREVER = """
import signal, sys
import structlog
from gateway.observability import setup_logging
from gateway.redaction import Redactor
setup_logging(redactor=Redactor())
log = structlog.get_logger("gateway")
log.info("first.line")
signal.sigwait({signal.SIGUSR1})
for number in range(1000):
    log.info("nobody.reads", number=number)
print("still here")
"""


@pytest.mark.req("OPS-9")
def test_a_reader_that_goes_away_stops_the_lines_and_not_the_daemon():
    block = {signal.SIGUSR1}
    signal.pthread_sigmask(signal.SIG_BLOCK, block)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", LOGS_FOREVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, block)
    assert "first.line" in process.stderr.readline()
    process.stderr.close()
    process.send_signal(signal.SIGUSR1)

    output = process.stdout.read()

    assert process.wait(30) == 0
    assert output == "still here\n"
    process.stdout.close()


FULL_DISK = """
import structlog
from gateway.observability import setup_logging
from gateway.redaction import Redactor
setup_logging(redactor=Redactor(), stream=open("/dev/full", "w"))
structlog.get_logger("gateway").info("no.room")
print("still here", flush=True)
import os
os._exit(0)
"""


@pytest.mark.req("OPS-9")
def test_a_full_disk_costs_lines_and_not_the_daemon():
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], capture_output=True, text=True, timeout=60, check=True
    )

    assert (done.stdout, done.stderr) == ("still here\n", "")
