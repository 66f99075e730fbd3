"""`make bench`: prints its table."""

import argparse
import asyncio

from bench.turns import measure, table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    print(table(asyncio.run(measure(given.rounds))))


if __name__ == "__main__":
    main()
