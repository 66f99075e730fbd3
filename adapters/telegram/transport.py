"""python-telegram-bot's requests over aiohttp: less CPU than its own httpx, errors that say what is known.

An error tells whether Telegram can have read the request: `ConnectError` certainly not, any other
`NetworkError` perhaps. No error carries an address, since a Bot API address contains the token.
"""

import json
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData
from yarl import URL

Timeout = Any  # seconds, None, or BaseRequest.DEFAULT_NONE, whose type is private to the library

# Shorter than any server keeps an idle connection: a request written into one that is just being closed has
# an unknown outcome.
_KEEP_ALIVE_S = 15.0


class ConnectError(NetworkError):
    """No connection was made: Telegram never saw the request."""


class AiohttpRequest(BaseRequest):
    """A pool of connections to one Bot API server.

    A request waits up to `queue_timeout_s` for a free connection (and its making, of at most
    `connect_timeout_s`), then up to `read_timeout_s` for each part of the answer.
    """

    def __init__(
        self,
        *,
        connections: int,
        connect_timeout_s: float,
        read_timeout_s: float,
        queue_timeout_s: float,
    ) -> None:
        self._connections = connections
        self._connect_timeout_s = connect_timeout_s
        self._read_timeout_s = read_timeout_s
        self._queue_timeout_s = queue_timeout_s
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[str, str] = {}
        self.server_date = ""
        """The `Date` header of the last answer."""

    @property
    def read_timeout(self) -> float | None:
        """Seconds without a byte of the answer after which it is given up."""
        return self._read_timeout_s

    async def initialize(self) -> None:
        """Open the pool; nothing if it is open."""
        if self._session is None:
            self._proxies = getproxies()
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=_KEEP_ALIVE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
            )

    async def shutdown(self) -> None:
        """Close the pool; nothing if it is closed."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Timeout = BaseRequest.DEFAULT_NONE,
        write_timeout: Timeout = BaseRequest.DEFAULT_NONE,
        connect_timeout: Timeout = BaseRequest.DEFAULT_NONE,
        pool_timeout: Timeout = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """The status and body of one request's answer; aiohttp has no write time-out of its own.

        Raises:
            ConnectError: no connection was made.
            NetworkError: the request went out, fully or in part, and no answer came back.
        """
        del write_timeout
        if self._session is None:
            raise ConnectError("not connected")
        read_s = _or(read_timeout, self._read_timeout_s)
        connect_s = _or(connect_timeout, self._connect_timeout_s)
        queue_s = _or(pool_timeout, self._queue_timeout_s)
        timeout = aiohttp.ClientTimeout(connect=queue_s + connect_s, sock_connect=connect_s, sock_read=read_s)
        try:
            async with self._session.request(
                method,
                url,
                timeout=timeout,
                allow_redirects=False,
                proxy=self._proxy(url),
                **_body(request_data),
            ) as response:
                self.server_date = response.headers.get("Date", "")
                return response.status, await response.read()
        except (aiohttp.ClientError, OSError) as error:  # OSError: TimeoutError among them
            failure = _told(error)
        raise failure  # here, so that it does not carry aiohttp's own, whose text has the address

    def _proxy(self, url: str) -> str | None:
        """The proxy that the environment names for this address, as httpx would find it."""
        if not self._proxies:
            return None
        address = URL(url)
        if proxy_bypass(address.host or ""):
            return None
        return self._proxies.get(address.scheme) or self._proxies.get("all")


def _told(error: Exception) -> NetworkError:
    name = type(error).__name__
    if isinstance(
        error,
        aiohttp.ConnectionTimeoutError
        | aiohttp.ClientConnectorError
        | aiohttp.ClientConnectorCertificateError
        | aiohttp.ClientHttpProxyError
        | aiohttp.InvalidURL,
    ):
        return ConnectError(name)
    if isinstance(error, TimeoutError):
        return TimedOut(name)
    return NetworkError(name)


def _body(data: RequestData | None) -> dict[str, Any]:
    """JSON, which costs a tenth of a form with percent signs; a form when there are files."""
    if data is None:
        return {}
    if not data.contains_files:
        return {
            "data": json.dumps(data.parameters, ensure_ascii=False).encode("utf-8", "replace"),
            "headers": {"Content-Type": "application/json"},
        }
    form = aiohttp.FormData(data.json_parameters, quote_fields=False)  # else a name comes as percent signs
    for field, (name, content, mime_type) in data.multipart_data.items():
        form.add_field(field, content, filename=name, content_type=mime_type)
    return {"data": form}


def _or(given: Timeout, default: float) -> float:
    """The time-out asked for in this call; PTB's None, without bound, is not to be had here."""
    return default if given is None or given is BaseRequest.DEFAULT_NONE else float(given)
