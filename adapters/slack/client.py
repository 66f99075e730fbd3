"""The library's client, made to repeat nothing, to log nothing, and to survive answers that are not Slack's."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from slack_sdk.web.async_client import AsyncWebClient

# At its own level the library puts together a line for each request, whether or not anyone reads it.
_quiet = logging.getLogger("adapters.slack.sdk")
_quiet.setLevel(logging.WARNING)


class QuietClient(AsyncWebClient):
    """slack_sdk's client, without retry handlers: the default ones repeat a post whose answer was lost."""

    def __init__(self, token: str, *, api_base: str) -> None:
        super().__init__(token=token, base_url=api_base, retry_handlers=[], logger=_quiet)
        self.proxy = _proxy(api_base)

    async def _request(self, **arguments: Any) -> dict[str, Any]:
        """The answer's parts; a body that is no object counts as none, on which the library would break."""
        answer: dict[str, Any] = await super()._request(**arguments)
        if not isinstance(answer["data"], dict | bytes):
            answer["data"] = {}
        return answer


def _proxy(api_base: str) -> str | None:
    """The proxy that the environment names for this address; the library itself never looks at NO_PROXY."""
    address = urlsplit(api_base)
    proxies: Mapping[str, str] = getproxies()
    if not proxies or proxy_bypass(address.hostname or ""):
        return None
    return proxies.get(address.scheme) or proxies.get("all")
