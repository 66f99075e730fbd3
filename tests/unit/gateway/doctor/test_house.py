"""What the doctor sees of this machine."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from gateway.adapter import Finding
from gateway.config import Config, load_config
from gateway.doctor import house
from gateway.store import schema
from gateway.store.sqlite import is_served, open_database

pytestmark = pytest.mark.req("OPS-7")

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def config(folder: Path, text: str, **environ: str) -> Config:
    (folder / "config.yaml").write_text(text)
    return load_config(path=folder / "config.yaml", environ=environ, sections={})


def test_a_readable_file_with_a_secret_in_it_is_a_warning(tmp_path: Path):
    loaded = config(tmp_path, "audit: {key: a-key-of-the-audit-log}\n")
    tmp_path.joinpath("config.yaml").chmod(0o644)
    (found,) = house.secrets_kept(loaded)
    assert (found.state, found.fix) == ("warning", f"chmod 600 {tmp_path / 'config.yaml'}")
    tmp_path.joinpath("config.yaml").chmod(0o600)
    assert list(house.secrets_kept(loaded)) == []


def test_a_readable_file_that_only_names_a_variable_is_none(tmp_path: Path):
    loaded = config(tmp_path, "audit: {key: '${AUDIT_KEY}'}\n", AUDIT_KEY="a-key-of-the-audit-log")
    tmp_path.joinpath("config.yaml").chmod(0o644)
    assert list(house.secrets_kept(loaded)) == []


def test_the_state_folder_may_be_missing_but_must_be_makeable_and_is_for_its_owner(tmp_path: Path):
    folder = tmp_path / "deep" / "state"
    assert house.state_folder(folder) == Finding(
        name="state_dir", state="ok", detail=f"{folder}, made at the first start"
    )
    folder.mkdir(parents=True, mode=0o755)
    assert house.state_folder(folder).fix == f"chmod 700 {folder}"
    folder.chmod(0o700)
    assert house.state_folder(folder) == Finding(name="state_dir", state="ok", detail=str(folder))


def test_a_folder_that_cannot_be_written_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root, as some tests are run, may write everywhere
    assert house.state_folder(tmp_path).state == "failed"
    assert house.state_folder(tmp_path / "state").state == "failed"


async def test_a_database_is_whole_damaged_or_from_a_newer_release(tmp_path: Path):
    file = tmp_path / "parley.db"
    assert house.database(file).detail == "none yet, made at the first start"
    opened = await open_database(file)
    await opened.write(lambda tx: schema.migrate(tx, 0))
    assert is_served(file)
    assert house.database(file).detail == f"whole, schema {len(schema.MIGRATIONS)}"  # beside its writer
    await opened.write(lambda tx: tx.run("INSERT INTO schema_version VALUES (999, 0)"))
    await opened.close()
    assert not is_served(file)
    assert house.database(file).fix == "install the newer release again"
    file.write_bytes(b"no database, and no SQLite header either" * 100)
    assert house.database(file).state == "failed"


async def test_the_newest_update_is_found(tmp_path: Path):
    file = tmp_path / "parley.db"
    assert house.newest_stored(file) is None
    opened = await open_database(file)
    await opened.write(lambda tx: schema.migrate(tx, 0))
    assert house.newest_stored(file) is None
    await opened.close()


@pytest.mark.parametrize(
    ("free", "state"), [(5_000_000_000, "ok"), (500_000_000, "warning"), (50_000_000, "failed")]
)
def test_little_room_is_a_warning_and_next_to_none_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str
):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12 - free, free))
    assert house.disk(tmp_path / "not" / "there").state == state


@pytest.mark.parametrize(
    ("off_s", "state"), [(0, "ok"), (-20, "ok"), (60, "warning"), (-60, "warning"), (3_600, "failed")]
)
def test_the_clock_is_held_beside_the_platforms(off_s: float, state: str):
    told = format_datetime(NOW - timedelta(seconds=off_s), usegmt=True)
    assert house.clock(NOW, [told], None).state == state


def test_one_platform_whose_clock_is_right_is_enough():
    right, wrong = (format_datetime(NOW - timedelta(seconds=off), usegmt=True) for off in (1, 9_000))
    assert house.clock(NOW, [wrong, "no date", right], None).state == "ok"


def test_without_platforms_what_came_in_before_must_not_be_in_the_future():
    assert house.clock(NOW, [], None).state == "ok"
    assert house.clock(NOW, [], NOW - timedelta(days=1)).state == "ok"
    assert house.clock(NOW, [], NOW + timedelta(days=1)).state == "failed"
