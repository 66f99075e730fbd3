"""`python -m tests.simulators.discord`: a Discord as a process of its own, to try a daemon against.

Prints one line when it listens: the API's base address, the bot's token. It is driven through
`POST <address>/sim/<action>`; `GET <address>/sim` lists the actions.
"""

import argparse
import asyncio

from .simulator import DiscordSimulator


async def serve(host: str, port: int) -> None:
    """Run until the process is stopped."""
    async with DiscordSimulator(host, port) as sim:
        print(sim.api_base, sim.token, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Run until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulators.discord", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    options = parser.parse_args()
    try:
        asyncio.run(serve(options.host, options.port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
