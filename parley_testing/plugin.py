"""The pytest plugin: fixtures and marks of the contract suite, and a fixture for each simulator.

Installed by an entry point, so it is loaded into every run of pytest where Parley is installed: it imports next to
nothing until something is used, and gives nothing where pytest-asyncio is not installed.
"""

from importlib import import_module
from importlib.util import find_spec

import pytest

_FIXTURES = ("parley_testing.contract.fixtures", "parley_testing.simulators.fixtures")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of the suite, and bring in the fixtures."""
    config.addinivalue_line("markers", "req(*ids): which of Parley's requirements a test shows")
    if find_spec("pytest_asyncio") is not None:
        for name in _FIXTURES:
            config.pluginmanager.register(import_module(name), name)
