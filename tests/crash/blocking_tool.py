"""A tool server whose tool `echo` notes that it runs and then waits: `python -m tests.crash.blocking_tool FOLDER`.

It goes on as soon as a file `go` is in the folder.
"""

import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from agent.tools.demo_server import DemoServer, serve

LOOK_S = 0.02


class BlockingServer(DemoServer):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "notes.txt", random.Random())
        self._folder = folder

    def _echo(self, args: Mapping[str, object]) -> str:
        with (self._folder / "runs.txt").open("a") as runs:
            runs.write(f"{args['text']}\n")
        while not (self._folder / "go").exists():
            time.sleep(LOOK_S)
        return super()._echo(args)


if __name__ == "__main__":
    serve(BlockingServer(Path(sys.argv[1])), sys.stdin, sys.stdout)
