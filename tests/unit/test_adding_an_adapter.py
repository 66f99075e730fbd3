"""docs/adding-an-adapter.md does what it says: its code is taken out of it and used as a stranger would."""

import asyncio
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from adapters import find_adapters
from gateway.adapter import Adapter, ChecksItself
from gateway.config import load_config

pytestmark = pytest.mark.req("ADP-1")

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-an-adapter.md"
LINES = 150


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files, and the metadata that installing them would leave."""
    folder = tmp_path_factory.mktemp("example")
    for name, code in re.findall(
        r"^```\w+ (\S+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(code)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    installed = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {value}" for name, value in project["entry-points"]["parley.adapters"].items()]
    (installed / "entry_points.txt").write_text("\n".join(["[parley.adapters]", *lines]))
    return folder


def test_the_example_is_short():
    assert len(PAGE.read_text("utf-8").splitlines()) < LINES


async def test_the_example_passes_the_contract_suite_with_the_shipped_plugin(package: Path):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        # By its module and not by its entry point, which exists only where the distribution is installed anew.
        *("-m", "pytest", "-q", "-p", "no:parley_testing", "-p", "parley_testing.plugin"),
        *("-p", "no:cacheprovider", "--strict-markers"),
        cwd=package,
        env={**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{ROOT}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    found = re.search(r"(\d+) passed", out.decode())
    assert (process.returncode, found is not None) == (0, True), out.decode()[-3_000:]
    assert found is not None
    assert int(found[1]) >= 12
    assert "failed" not in out.decode()


def test_its_entry_points_give_it_a_section_of_its_own(package: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(package))
    entry = find_adapters()["folder"]
    sections = {"folder": entry.load_settings()}
    config = package / "config.yaml"
    config.write_text(f"folder: {{path: {package / 'chat'}}}\n")
    loaded = load_config(path=config, environ={"PARLEY_ACCESS__ALLOW__FOLDER": "7001"}, sections=sections)
    (account,) = loaded.accounts
    assert (account.platform, account.place, account.settings.path) == ("folder", "folder", package / "chat")
    assert loaded.access.allow["folder"] == ("7001",)
    adapter = entry.load_adapter()(account.settings, None)
    assert isinstance(adapter, ChecksItself)
    assert {name for name in vars(Adapter) if not name.startswith("_")} <= set(dir(adapter))
