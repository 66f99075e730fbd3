"""The adapter table."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from adapters import BUILT_IN, GROUP, TERMINAL, AdapterEntry, find_adapters, from_entry_points
from gateway.errors import AdapterError

pytestmark = pytest.mark.req("ADP-1")


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


@pytest.mark.parametrize("entry", [*BUILT_IN.values(), TERMINAL], ids=lambda entry: entry.adapter)
def test_every_built_in_entry_names_an_adapter_and_settings_that_forbid_unknown_keys(entry):
    assert entry.load_adapter().platform
    settings = entry.load_settings()
    assert settings.model_config["extra"] == "forbid"
    assert settings.model_config["frozen"]
    assert isinstance(settings().enabled, bool)


def test_a_missing_library_is_one_line_that_says_what_to_install():
    entry = AdapterEntry(adapter="no_such_sdk.adapter:Adapter", settings="x:Y", extra="matrix")
    with pytest.raises(AdapterError) as caught:
        entry.load_adapter()
    assert str(caught.value) == "no_such_sdk is not installed: run `pip install 'parley-gateway[matrix]'`"


def test_a_name_that_is_not_in_its_module_is_said():
    with pytest.raises(AdapterError, match=r"adapters\.memory\.adapter:Nobody cannot be imported"):
        AdapterEntry(adapter="adapters.memory.adapter:Nobody", settings="x:Y").load_adapter()


def test_a_package_of_somebody_else_joins_with_two_entry_points():
    points = [
        point("matrix", "parley_matrix.adapter:Matrix"),
        point("matrix.settings", "parley_matrix.settings:S"),
    ]
    assert from_entry_points(points) == {
        "matrix": AdapterEntry(adapter="parley_matrix.adapter:Matrix", settings="parley_matrix.settings:S")
    }


def test_an_entry_point_without_settings_or_under_a_taken_name_is_left_out():
    points = [
        point("matrix", "parley_matrix.adapter:Matrix"),
        point("telegram", "evil:Telegram"),
        point("telegram.settings", "evil:Settings"),
    ]
    assert from_entry_points(points) == {}


def test_all_built_in_platforms_are_found():
    assert find_adapters().items() >= BUILT_IN.items()


def test_reading_table_and_settings_imports_no_sdk():
    code = (
        "import sys, adapters\n"
        "for entry in [*adapters.BUILT_IN.values(), adapters.TERMINAL]: entry.load_settings()\n"
        "print(sorted({'telegram', 'httpx', 'aiohttp', 'prompt_toolkit', 'rich.markdown'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
