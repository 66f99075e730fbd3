"""The `config.yaml` that is shipped: every key, as a comment, with its default."""

import re
from pathlib import Path

import pytest

from adapters import find_adapters
from gateway.config import load_config, shown
from gateway.config.settings import config_shape
from gateway.config.shape import key_paths

pytestmark = pytest.mark.req("OPS-2")

SHIPPED = Path(__file__).parents[4] / "config.yaml"


@pytest.fixture
def sections():
    return {name: entry.load_settings() for name, entry in find_adapters().items()}


@pytest.fixture
def uncommented(tmp_path) -> Path:
    """The file with every commented key in force; comment lines that are prose stay."""
    text = SHIPPED.read_text("utf-8")
    keys = re.sub(r"^# (?=( {2})*[a-zA-Z_]+:( |$))", "", text, flags=re.MULTILINE)
    (tmp_path / "config.yaml").write_text(keys, "utf-8")
    return tmp_path / "config.yaml"


def values(path: Path, sections) -> dict[str, str]:
    return {value.key: value.text for value in shown(load_config(path=path, environ={}, sections=sections))}


def test_as_it_is_shipped_it_changes_nothing(sections, tmp_path):
    (tmp_path / "config.yaml").write_text("")
    shipped = values(SHIPPED, sections)
    empty = values(tmp_path / "config.yaml", sections)

    assert shipped.pop("state_dir") == f'"{SHIPPED.parent}/state"'
    assert empty.pop("state_dir") == f'"{tmp_path}/state"'
    assert shipped == empty


def test_with_every_comment_removed_it_still_says_the_defaults(sections, uncommented):
    expected = values(SHIPPED, sections)
    found = values(uncommented, sections)
    del expected["state_dir"], found["state_dir"]
    # A key without a default of its own shows as null or {} either way; an open map's example entry adds one.
    assert found.pop("access.allow.telegram") == "[]"
    assert expected.pop("access.allow") == "{}"

    assert found == expected


def test_every_key_that_can_be_set_is_in_it(sections, uncommented):
    text = uncommented.read_text("utf-8")
    missing = [path for path in key_paths(config_shape(sections)) if not re.search(rf"\b{path[-1]}:", text)]

    assert missing == []
