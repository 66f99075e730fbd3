"""What can be seen on this machine: who may read secrets, the state folder, the database, the disk, the clock."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from gateway.adapter import Finding
from gateway.clock import from_ms
from gateway.config import Config
from gateway.errors import StoreUnavailable
from gateway.store.schema import MIGRATIONS
from gateway.store.sqlite import look
from gateway.store.tx import Tx

LITTLE_BYTES, TOO_LITTLE_BYTES = 1_000_000_000, 100_000_000
"""Free space under which the disk is a warning, or a failure: a full one stops every conversation."""

LATE_S, TOO_LATE_S = 30.0, 300.0
"""How far the clock may be off. After five minutes signed requests are refused (one platform's rule, and TLS's)."""

_SAMPLES = 5  # damages of a database that are looked for


def secrets_kept(config: Config) -> Iterator[Finding]:
    """Files with secrets in them that every user of this machine may read."""
    home = config.file.parent if config.file else Path()
    for file in (config.file, home / ".env"):
        if file is None or not file.exists() or not file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            continue
        text = file.read_text("utf-8", errors="replace")
        if any(secret in text for secret in config.secrets()):
            yield Finding(
                name="secrets",
                state="warning",
                detail=f"{file} holds secrets, and others than its owner may read it",
                fix=f"chmod 600 {file}",
            )


def state_folder(folder: Path) -> Finding:
    """Whether what must be kept can be kept there."""
    if not folder.exists():
        nearest = _existing(folder)
        if os.access(nearest, os.W_OK | os.X_OK):
            return Finding(name="state_dir", state="ok", detail=f"{folder}, made at the first start")
        return Finding(
            name="state_dir",
            state="failed",
            detail=f"{folder} is not there and cannot be made",
            fix=f"let this user write to {nearest}, or name another state_dir",
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            name="state_dir",
            state="failed",
            detail=f"{folder} cannot be written by this user",
            fix="make this user its owner, or name another state_dir",
        )
    if folder.stat().st_mode & stat.S_IRWXO:
        return Finding(
            name="state_dir",
            state="warning",
            detail=f"{folder} is open to every user of this machine",
            fix=f"chmod 700 {folder}",
        )
    return Finding(name="state_dir", state="ok", detail=str(folder))


def database(file: Path) -> Finding:
    """Whether the database can be read, is whole, and has a schema that this release knows; blocks."""
    if not file.exists():
        return Finding(name="database", state="ok", detail="none yet, made at the first start")
    try:
        damages, version = look(file, _examine)
    except StoreUnavailable as error:
        return Finding(name="database", state="failed", detail=str(error), fix="see what is said there")
    if damages != ["ok"]:
        return Finding(
            name="database",
            state="failed",
            detail=f"damaged: {damages[0]}",
            fix="stop the daemon and restore a backup",
        )
    if version > len(MIGRATIONS):
        return Finding(
            name="database",
            state="failed",
            detail=f"its schema {version} is newer than this release",
            fix="install the newer release again",
        )
    return Finding(name="database", state="ok", detail=f"whole, schema {version}")


def disk(folder: Path) -> Finding:
    """Whether there is room."""
    free = shutil.disk_usage(_existing(folder)).free
    detail = f"{free / 1e9:.1f} GB free for {folder}"
    if free < LITTLE_BYTES:
        return Finding(
            name="disk",
            state="failed" if free < TOO_LITTLE_BYTES else "warning",
            detail=detail,
            fix="free some space; a full one stops every conversation",
        )
    return Finding(name="disk", state="ok", detail=detail)


def clock(now: datetime, server_dates: Sequence[str], newest: datetime | None) -> Finding:
    """Whether the clock is right: beside those of the platforms, else beside what was stored last."""
    references = [time for date in server_dates if (time := _parse(date)) is not None]
    if not references:
        return _beside_the_past(now, newest)
    off_s = min(((now - time).total_seconds() for time in references), key=abs)
    detail = f"{abs(off_s):.0f} s {'ahead of' if off_s > 0 else 'behind'} the platforms'"
    if abs(off_s) < LATE_S:
        return Finding(name="clock", state="ok", detail=detail)
    return Finding(
        name="clock",
        state="failed" if abs(off_s) > TOO_LATE_S else "warning",
        detail=detail,
        fix="let the system keep its time (timedatectl set-ntp true)",
    )


def newest_stored(file: Path) -> datetime | None:
    """When the last update came in, by the clock of then; None if nothing can be read. Blocks."""
    try:
        found = look(file, lambda tx: tx.row("SELECT MAX(received_at) AS newest FROM inbox"))
    except StoreUnavailable:
        return None
    return from_ms(found["newest"]) if found is not None and found["newest"] is not None else None


def _beside_the_past(now: datetime, newest: datetime | None) -> Finding:
    if newest is not None and newest - now > timedelta(seconds=LATE_S):
        return Finding(
            name="clock",
            state="failed",
            detail=f"it says {now:%Y-%m-%d %H:%M} UTC, and a message came in at {newest:%Y-%m-%d %H:%M}",
            fix="set the clock (timedatectl set-ntp true)",
        )
    return Finding(
        name="clock", state="ok", detail=f"{now:%Y-%m-%d %H:%M} UTC; no platform's to compare it with"
    )


def _parse(date: str) -> datetime | None:
    try:
        return parsedate_to_datetime(date)
    except ValueError:
        return None


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def _examine(tx: Tx) -> tuple[list[str], int]:
    damages = [str(row["quick_check"]) for row in tx.rows(f"PRAGMA quick_check({_SAMPLES})")]
    found = tx.row("SELECT MAX(version) AS version FROM schema_version")
    return damages, int(found["version"] or 0) if found is not None else 0
