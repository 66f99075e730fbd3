"""`make bench`: prints its table."""

import argparse
import asyncio
import tempfile
from pathlib import Path

from bench import limited, store, turns


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--store", action="store_true", help="the store alone")
    parser.add_argument("--limited", action="store_true", help="a chat with a 429 beside others alone")
    parser.add_argument("--profile", action="store_true", help="where the time of an ingest goes")
    given = parser.parse_args()
    if given.profile:
        with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
            print(asyncio.run(store.profile(Path(folder))))
        return
    if given.limited:
        print(limited.table(asyncio.run(limited.measure(given.rounds))))
        return
    if not given.store:
        print(turns.table(asyncio.run(turns.measure(given.rounds))) + "\n")
        print(limited.table(asyncio.run(limited.measure(given.rounds))) + "\n")
    print(store.table(asyncio.run(store.measure())))


if __name__ == "__main__":
    main()
