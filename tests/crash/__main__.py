"""`make crash`: the long form; prints its table, and fails if anything was lost, doubled or run twice."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.crash.harness import HEADER, Plan, TelegramCrash


def main() -> int:
    """Run with the wanted number of kills; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-crash-") as folder:
        run = TelegramCrash(Path(folder), Plan(kills=given.kills, users=given.users, seed=given.seed))
        tally = asyncio.run(run.run())
    print(HEADER)
    print(tally.row())
    bad = [*tally.lost, *tally.doubled, *tally.notes_twice]
    if bad:
        print(f"{len(bad)} are wrong, for example {bad[:5]}", file=sys.stderr)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
