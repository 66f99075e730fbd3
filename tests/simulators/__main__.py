"""`python -m tests.simulators telegram|model|both`: simulators as processes, to try a daemon against.

Each prints one line when it listens: its name, its base URL, and for Telegram the bot's token. They are
driven through `POST <url>/sim/<action>` (`GET <url>/sim` lists the actions) or, with `--chat USER`, by typing
as that user.
"""

import argparse
import asyncio
from contextlib import AsyncExitStack

from .model import ModelSimulator
from .telegram import TelegramSimulator
from .telegram.terminal import chat_in_terminal


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulators", description=__doc__)
    parser.add_argument("which", choices=("telegram", "model", "both"))
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free one; of Telegram when both run")
    parser.add_argument("--model-port", type=int, default=0, help="the model's port when both run")
    parser.add_argument("--users", default="", help="ids of people who have started the bot, with commas")
    parser.add_argument("--chat", type=int, metavar="USER", help="type as this user; !1 presses a button")
    return parser.parse_args(arguments)


async def serve(options: argparse.Namespace) -> None:
    """Run what was asked for until the typed input ends or the process is stopped."""
    async with AsyncExitStack() as stack:
        telegram = None
        if options.which in {"telegram", "both"}:
            telegram = await stack.enter_async_context(TelegramSimulator(options.host, options.port))
            for user in filter(None, options.users.split(",")):
                telegram.add_user(int(user))
            print(f"telegram {telegram.url} {telegram.token}", flush=True)
        if options.which in {"model", "both"}:
            port = options.model_port if options.which == "both" else options.port
            model = await stack.enter_async_context(ModelSimulator(options.host, port))
            print(f"model {model.base_url}", flush=True)
        if telegram is not None and options.chat is not None:
            await chat_in_terminal(telegram, options.chat)
        else:
            await asyncio.Event().wait()


def main() -> None:
    """Run until interrupted."""
    try:
        asyncio.run(serve(parse_arguments()))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
