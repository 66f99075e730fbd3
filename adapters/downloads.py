"""Files that people sent, fetched from where their platform keeps them; one place for the bounds of that.

An address comes with a message and is followed only to the platform's own hosts: a made-up one must neither get a
token nor make the daemon ask around in its own network.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from gateway.errors import FileTooLarge, MessageRejected, OutcomeUnknown

_CHUNK = 64 * 1024


def is_at(address: str, api_base: str, domains: Sequence[str]) -> bool:
    """Whether an address is at the API's own place (a test's, a proxy's) or, by HTTPS, in one of these domains."""
    there, api = urlsplit(address), urlsplit(api_base)
    if (there.scheme, there.netloc) == (api.scheme, api.netloc):
        return True
    host = there.hostname or ""
    return there.scheme == "https" and any(
        host == domain or host.endswith(f".{domain}") for domain in domains
    )


async def download(
    address: str,
    limit_bytes: int,
    *,
    timeout_s: float,
    headers: Mapping[str, str] | None = None,
    unless_type: str = "",
) -> bytes:
    """The bytes at an address, without following redirects.

    Args:
        address: Where.
        limit_bytes: How many at the most.
        timeout_s: Seconds for the connection, and without a byte.
        headers: Sent with the request.
        unless_type: A media type that is something else than the file.

    Raises:
        MessageRejected: it is larger, not there, or of `unless_type`.
        OutcomeUnknown: the server has trouble; it may be tried again.
        aiohttp.ClientError, OSError: no answer came.
    """
    timeout = aiohttp.ClientTimeout(sock_connect=timeout_s, sock_read=timeout_s)
    async with (
        aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
        session.get(address, headers=headers, proxy=_proxy(address), allow_redirects=False) as answer,
    ):
        if answer.status >= 500 or answer.status == 429:
            raise OutcomeUnknown(f"the file was answered with {answer.status}")
        if answer.status != 200 or (unless_type and answer.content_type == unless_type):
            raise MessageRejected(f"the file was answered with {answer.status} {answer.content_type}")
        data = bytearray()
        async for chunk in answer.content.iter_chunked(_CHUNK):
            data += chunk
            if len(data) > limit_bytes:
                raise FileTooLarge(f"larger than {limit_bytes:,} bytes")
        return bytes(data)


def _proxy(address: str) -> str | None:
    """The proxy that the environment names for this address."""
    parts = urlsplit(address)
    proxies: Mapping[str, str] = getproxies()
    if not proxies or proxy_bypass(parts.hostname or ""):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")
