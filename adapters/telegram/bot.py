"""The library's bot, made to hand out updates unparsed and to keep its token to itself."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from telegram import Bot
from telegram.request import BaseRequest

from adapters.telegram.parse import ALLOWED_UPDATES


class QuietBot(Bot):
    """python-telegram-bot's bot; neither its `repr` nor its log shows the token."""

    def __init__(self, token: str, *, api_base: str, sending: BaseRequest, polling: BaseRequest) -> None:
        # The library writes its base address, token included, to this log at DEBUG.
        logging.getLogger("telegram.Bot").addFilter(_Redaction(token))
        super().__init__(
            token=token,
            base_url=f"{api_base}/bot",
            base_file_url=f"{api_base}/file/bot",
            request=sending,
            get_updates_request=polling,
        )

    async def poll(self, offset: int | None, timeout_s: int) -> Sequence[Mapping[str, Any]]:
        """`getUpdates` as JSON: the library parses a batch whole, so that one bad update holds up all."""
        asked = {"offset": offset, "timeout": timeout_s, "allowed_updates": list(ALLOWED_UPDATES)}
        return cast("list[dict[str, Any]]", await self._post("getUpdates", asked))

    def __repr__(self) -> str:
        return "QuietBot(…)"


class _Redaction(logging.Filter):
    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if self._secret in text:
            record.msg, record.args = text.replace(self._secret, "***"), ()
        return True
