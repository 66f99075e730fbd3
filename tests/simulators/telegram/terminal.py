"""Typing as a person into a simulated chat: lines from stdin are sent, what the bot shows is printed.

`!1` presses the first button of the newest message that has some, `/quit` or the end of input ends it.
"""

import asyncio
import sys
import threading

from .records import Chat, Message, Press
from .simulator import TelegramSimulator

CALM_S = 0.3  # a streamed message is printed when its edits pause this long


async def chat_in_terminal(sim: TelegramSimulator, user_id: int) -> None:
    """Be this user in their private chat until the input ends."""
    chat = sim.chat(sim.world.users.get(user_id) or sim.add_user(user_id))
    printer = asyncio.create_task(_print_news(sim, chat))
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    threading.Thread(target=_read_stdin, args=(asyncio.get_running_loop(), lines), daemon=True).start()
    while (line := await lines.get()) is not None and line != "/quit":
        if line.startswith("!"):
            _press(sim, chat, line[1:])
        elif line:
            sim.say(chat, line)
    await asyncio.sleep(CALM_S * 2)  # what was just answered should still be seen
    printer.cancel()
    await asyncio.gather(printer, return_exceptions=True)


def _read_stdin(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str | None]) -> None:
    for line in sys.stdin:
        loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
    loop.call_soon_threadsafe(lines.put_nowait, None)


def _press(sim: TelegramSimulator, chat: Chat, number: str) -> None:
    shown = [message for message in sim.replies(chat) if message.buttons]
    try:
        sim.press(shown[-1], int(number) - 1)
    except (LookupError, ValueError):
        print("no such button")


async def _print_news(sim: TelegramSimulator, chat: Chat) -> None:
    printed: dict[int, str] = {}
    answered: set[str] = set()
    while True:
        await sim.changes.until(lambda: _news(sim, chat, printed, answered), float("inf"))
        await asyncio.sleep(CALM_S)
        for item in _news(sim, chat, printed, answered):
            if isinstance(item, Press):
                answered.add(item.id)
                if item.answer.get("text"):
                    print(f"({item.answer['text']})", flush=True)
            else:
                again = "(edited) " if item.id in printed else ""
                printed[item.id] = appearance(item)
                print(again + printed[item.id], flush=True)


def _news(
    sim: TelegramSimulator, chat: Chat, printed: dict[int, str], answered: set[str]
) -> list[Message | Press]:
    news: list[Message | Press] = [
        message for message in sim.replies(chat) if printed.get(message.id) != appearance(message)
    ]
    presses = [one for one in sim.world.presses.values() if one.message.chat is chat]
    return news + [one for one in presses if one.answered_at_s is not None and one.id not in answered]


def appearance(message: Message) -> str:
    """A message as one would see it in a terminal: text, file, numbered buttons row by row."""
    lines = [f"[{message.id}] {message.text}"]
    if message.file is not None:
        lines.append(f"<{message.file_kind}: {message.file.name}, {message.file.size_bytes} bytes>")
    number = 0
    for row in message.rows():
        lines.append("    " + "   ".join(f"!{number + place} {text}" for place, text in enumerate(row, 1)))
        number += len(row)
    return "\n".join(lines)
