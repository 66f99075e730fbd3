"""Simulators as processes, to try a daemon against: telegram, discord, slack, model, or several at once.

Each prints one line when it listens: its name, its address, and what a bot needs to log in. They are driven
through `POST <url>/sim/<action>` (`GET <url>/sim` lists the actions) or, with `--chat USER`, by typing as that
user of Telegram.
"""

import argparse
import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any

NAMES = ("telegram", "discord", "slack", "model")

_LINES: dict[str, tuple[str, Callable[[Any], tuple[str, ...]]]] = {
    "telegram": ("TelegramSimulator", lambda sim: (sim.url, sim.token)),
    "discord": ("DiscordSimulator", lambda sim: (sim.api_base, sim.token)),
    "slack": (
        "SlackSimulator",
        lambda sim: (sim.api_url, sim.token, sim.app_token, sim.account.signing_secret),
    ),
    "model": ("ModelSimulator", lambda sim: (sim.base_url,)),
}


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description=__doc__,
        epilog="The lines: telegram URL TOKEN · discord API_BASE TOKEN · "
        "slack API_BASE BOT_TOKEN APP_TOKEN SIGNING_SECRET · model BASE_URL",
    )
    parser.add_argument(
        "which",
        nargs="+",
        choices=(*NAMES, "both"),
        metavar="WHICH",
        help="|".join(NAMES) + "; both: telegram model",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument(
        "--port", type=int, default=0, help="of the first; 0, as for the others: any free one"
    )
    parser.add_argument("--model-port", type=int, default=0, help="the model's port when it is not the first")
    parser.add_argument("--users", default="", help="ids of people who know the bot, with commas")
    parser.add_argument("--chat", type=int, metavar="USER", help="type as this user; !1 presses a button")
    return parser.parse_args(arguments)


async def serve(options: argparse.Namespace) -> None:
    """Run what was asked for until the typed input ends or the process is stopped."""
    asked = [name for one in options.which for name in (("telegram", "model") if one == "both" else (one,))]
    telegram = None
    async with AsyncExitStack() as stack:
        for place, name in enumerate(dict.fromkeys(asked)):
            port = options.port if place == 0 else options.model_port if name == "model" else 0
            kind, line_of = _LINES[name]
            made = getattr(import_module(f".{name}", __package__), kind)(options.host, port)
            sim = await stack.enter_async_context(made)
            if name == "telegram":
                telegram = sim
            if name != "model":
                for user in filter(None, options.users.split(",")):
                    sim.add_user(user if name == "slack" else int(user))
            print(name, *line_of(sim), flush=True)
        if telegram is not None and options.chat is not None:
            await import_module(".telegram.terminal", __package__).chat_in_terminal(telegram, options.chat)
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
