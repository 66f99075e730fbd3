"""A PostgreSQL server of one's own: a temporary cluster on a Unix socket, without fsync, gone after the tests.

Where none is installed, the suites over every store run over SQLite alone and the test run says so in its last lines,
so that `make test` needs nothing but Python and make. `TEST_POSTGRES=required` (as in `.ci/run`) makes that a
failure.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg

REQUIRED = "TEST_POSTGRES"
MISSING = (
    "PostgreSQL is not installed: the store's contract was tried on SQLite only"
    " (Debian and Ubuntu: apt-get install postgresql)"
)
OPTIONS = "-F -c listen_addresses='' -c full_page_writes=off -c synchronous_commit=off"


def find_programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, of the newest version that is installed; None if there is none.

    Raises:
        RuntimeError: There is none, and the environment demands one.
    """
    # Debian keeps them out of PATH, one folder a version.
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    places = [str(path) for path in reversed(versions)] + [os.environ.get("PATH", "")]
    found = shutil.which("initdb", path=os.pathsep.join(places))
    if found is None and os.environ.get(REQUIRED) == "required":
        raise RuntimeError(MISSING)
    return Path(found).parent if found and Path(found).with_name("pg_ctl").exists() else None


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `host` is its socket's folder."""

    host: Path
    numbers: Iterator[int]

    def make_database(self) -> str:
        """Make an empty schema, which costs a hundredth of a database; returns its address."""
        name = f"t{next(self.numbers)}"
        with psycopg.connect(self.dsn("public"), autocommit=True) as admin:
            admin.execute(f"CREATE SCHEMA {name}")
        return self.dsn(name)

    def dsn(self, schema: str) -> str:
        """The address of a schema."""
        return f"postgresql:///postgres?host={self.host}&user=parley&options=-csearch_path%3D{schema}"


@contextmanager
def running_server(programs: Path) -> Iterator[Server]:
    """Start a server and stop it. Its programs refuse to run as root: root lends them to another user."""
    with tempfile.TemporaryDirectory(prefix="parley-pg-") as name:
        folder = Path(name)
        owner = _not_root()
        if owner is not None:
            shutil.chown(folder, owner, pwd.getpwnam(owner).pw_gid)
        data, log = folder / "data", folder / "log"

        def run(*command: str) -> None:
            done = subprocess.run(
                [str(programs / command[0]), "-D", str(data), *command[1:]],
                user=owner,
                group=pwd.getpwnam(owner).pw_gid if owner else None,
                extra_groups=[] if owner else None,
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
            if done.returncode:
                said = log.read_text() if log.exists() else ""
                raise RuntimeError(f"{command[0]} failed: {done.stderr}{said}")

        run("initdb", "-U", "parley", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "-o", f"{OPTIONS} -k {folder}", "-l", str(log), "-w", "start")
        try:
            yield Server(folder, count(1))
        finally:
            run("pg_ctl", "-m", "immediate", "-w", "stop")


def _not_root() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
