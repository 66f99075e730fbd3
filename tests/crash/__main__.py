"""`make crash`: the long form; prints its tables, and fails if anything was lost, doubled or run twice."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.crash.harness import CrashRun, Plan, Result
from tests.crash.points import POINTS
from tests.crash.report import points_table, replace_block
from tests.crash.store_kills import killed_while_saving
from tests.crash.tally import HEADER

HOLDS = "holds"


def main() -> int:
    """Run with the wanted number of kills; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--people", type=int, default=6, help="on each platform")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--life", type=float, default=5.0, help="longest life in seconds")
    parser.add_argument("--store-kills", type=int, default=200)
    parser.add_argument("--no-points", action="store_true", help="leave the named points out")
    parser.add_argument("--keep", type=Path, help="an empty folder for the random kills' daemon, which stays")
    parser.add_argument("--write", type=Path, help="write the tables into this document's marked block")
    given = parser.parse_args()
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    results = [] if given.no_points else asyncio.run(_try_points())
    torn = asyncio.run(_kill_store(given.store_kills, given.seed))
    found = asyncio.run(
        _kill_at_random(
            Plan(kills=given.kills, people=given.people, seed=given.seed, longest_life_s=given.life),
            given.keep,
        )
    )
    report = "\n\n".join(
        [
            points_table(results),
            f"A store killed {given.store_kills} times while it saved: {len(torn)} torn states.",
            "At random moments, while people on all three platforms talked to one daemon, with tools and cards"
            f" under way: {found.lives}.\n\n"
            + "\n".join([HEADER, *(tally.row() for tally in found.tallies)]),
        ]
    )
    print(report)
    if given.write is not None:
        given.write.write_text(replace_block(given.write.read_text(), report))
    bad = [*found.wrong, *torn]
    bad += [f"{name} on {platform}: {result}" for name, platform, result in results if result != HOLDS]
    if bad:
        print(f"{len(bad)} are wrong, for example {bad[:5]}", file=sys.stderr)
    return int(bool(bad))


async def _try_points() -> list[tuple[str, str, str]]:
    results = []
    for name, (function, platforms) in POINTS.items():
        for platform in platforms:
            with tempfile.TemporaryDirectory(prefix="parley-crash-") as folder:
                try:
                    await function(platform, Path(folder))
                except (AssertionError, TimeoutError) as error:
                    result = f"BROKEN ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
                else:
                    result = HOLDS
            print(f"{name} on {platform}: {result}", file=sys.stderr)
            results.append((name, platform, result))
    return results


async def _kill_store(kills: int, seed: int) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="parley-crash-") as folder:
        return await killed_while_saving(Path(folder), kills, seed)


async def _kill_at_random(plan: Plan, keep: Path | None) -> Result:
    if keep is not None:
        return await CrashRun(keep, plan).run()
    with tempfile.TemporaryDirectory(prefix="parley-crash-") as folder:
        return await CrashRun(Path(folder), plan).run()


if __name__ == "__main__":
    sys.exit(main())
