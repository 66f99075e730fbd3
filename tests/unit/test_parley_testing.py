"""What is shipped to authors of adapters is what our own tests use: package parley_testing is links into tests/."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import parley_testing
from parley_testing.contract import Stage
from parley_testing.simulators.telegram import TelegramSimulator

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "parley_testing"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_it_is_imported_from_this_repository_and_its_simulators_find_each_other():
    assert Path(parley_testing.__file__).parent == SHIPPED
    assert TelegramSimulator.__module__ == "parley_testing.simulators.telegram.simulator"
    assert Stage.__module__ == "parley_testing.contract.stages.base"


def test_each_link_leads_into_the_tests():
    links = {
        str(path.relative_to(SHIPPED)): path.resolve() for path in SHIPPED.rglob("*") if path.is_symlink()
    }
    assert links == {
        "simulators": ROOT / "tests" / "simulators",
        "contract/stages": ROOT / "tests" / "contract" / "stages",
        "contract/fixtures.py": ROOT / "tests" / "contract" / "fixtures.py",
        "contract/test_adapters.py": ROOT / "tests" / "contract" / "test_adapters.py",
    }


def test_the_distribution_has_it_with_its_plugin():
    included = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert any(fnmatch("parley_testing", pattern) for pattern in included)
    assert PROJECT["project"]["entry-points"]["pytest11"] == {"parley_testing": "parley_testing.plugin"}


def test_nothing_shipped_imports_from_the_tests_that_are_not():
    for path in (ROOT / "tests" / "simulators", ROOT / "tests" / "contract" / "stages"):
        for file in path.rglob("*.py"):
            assert "from tests" not in file.read_text("utf-8"), file
    for name in ("test_adapters.py", "fixtures.py"):
        assert "from tests" not in (ROOT / "tests" / "contract" / name).read_text("utf-8")
