"""For all tests: the network ends at this machine, and `--requirements` demands that every listed test ran."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.loopback import loopback_only
from tests.postgres import MISSING, find_programs
from tests.requirements import TABLE, not_run, parse_table, test_of

# The same examples at every run, on however busy a machine; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

test_of.__test__ = False  # imported into a file that pytest looks through


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--requirements",
        action="store_true",
        help="a full run: fail if a test listed in tests/requirements.toml did not run or was skipped",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Under xdist the controller hears every worker's reports; the workers themselves know only their share.
    if config.getoption("--requirements") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Requirements(), "requirements")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: one worker more than processors, since many tests wait for processes of their own."""
    return (os.cpu_count() or 1) + 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if find_programs() is None:
        terminalreporter.write_line(MISSING, yellow=True)


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    with loopback_only():
        yield


class _Requirements:
    """Notes what ran; at the end of a run without failures, says which listed tests are missing."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.skipped: set[str] = set()
        self.missing: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.skipped.add(test_of(report.nodeid))
        elif report.when == "call" and report.passed:
            self.passed.add(test_of(report.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK:
            table = parse_table(TABLE.read_text("utf-8"))
            self.missing = not_run(table, self.passed - self.skipped, self.skipped)
            if self.missing:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.missing:
            terminalreporter.section("required tests that did not run", red=True)
            for line in self.missing:
                terminalreporter.line(line)
