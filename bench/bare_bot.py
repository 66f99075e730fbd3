"""The floor: a bare python-telegram-bot that asks the model once per message, streamed, and echoes the answer.

It keeps nothing, orders nothing and survives nothing. Run as a process: `TOKEN`, `API_BASE` and `MODEL_BASE` come
from the environment.
"""

import os

from openai import AsyncOpenAI
from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters

model = AsyncOpenAI(base_url=os.environ["MODEL_BASE"], api_key="bench", max_retries=0)


async def answer(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    """Ask the model and send what it said."""
    assert update.message is not None
    stream = await model.chat.completions.create(
        model="bench", messages=[{"role": "user", "content": update.message.text or ""}], stream=True
    )
    words = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    await update.message.reply_text("".join(words))


def main() -> None:
    """Poll for ever."""
    base = os.environ["API_BASE"]
    app = (
        Application.builder()
        .token(os.environ["TOKEN"])
        .base_url(base + "/bot")
        .base_file_url(base + "/file/bot")
        .concurrent_updates(True)
        .connection_pool_size(64)
        .pool_timeout(60)
        .build()
    )
    app.add_handler(MessageHandler(filters.TEXT, answer))
    app.run_polling()


if __name__ == "__main__":
    main()
