"""`python -m tests.simulators.slack`: a Slack as a process, to try a daemon against.

Prints what an app needs, as lines of `name value`, once it listens. It is driven through `POST <url>/sim/<action>`
(`GET <url>/sim` lists the actions).
"""

import argparse
import asyncio

from .simulator import SlackSimulator


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulators.slack", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--users", default="", help="ids of people to make, with commas")
    return parser.parse_args(arguments)


async def serve(options: argparse.Namespace) -> None:
    """Run until the process is stopped."""
    async with SlackSimulator(options.host, options.port) as sim:
        for user in filter(None, options.users.split(",")):
            sim.add_user(user)
        print(f"url {sim.url}\napi_base {sim.api_url}\nbot_token {sim.token}\napp_token {sim.app_token}")
        print(f"signing_secret {sim.account.signing_secret}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Run until interrupted."""
    try:
        asyncio.run(serve(parse_arguments()))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
