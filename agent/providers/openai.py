"""OpenAI, and every endpoint that speaks its chat completions API."""

from contextlib import AsyncExitStack
from importlib.util import find_spec

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from agent.provider import Provider
from agent.providers.library import LibraryProvider
from agent.providers.openai_client import OpenAIClient
from agent.settings import ModelProfile

_OPENAI = "https://api.openai.com/v1"
_CONNECT_S = 10.0
_NO_KEY = "none"  # the SDK wants one, many local servers do not


def open_provider(profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> Provider:  # noqa: ARG001
    """A provider for one model; its connections are closed with the stack."""
    timeout = httpx2.Timeout(profile.first_event_timeout_s, connect=_CONNECT_S)
    # aiohttp costs less CPU than httpx; it is there with the Discord and Slack extras.
    http_client = DefaultAioHttpClient if find_spec("aiohttp") else DefaultAsyncHttpxClient
    client = OpenAIClient(
        api_key=profile.api_key or _NO_KEY,
        base_url=profile.base_url or _OPENAI,
        max_retries=0,  # retries are the chat's: it has to take back what was streamed
        timeout=timeout,
        http_client=http_client(timeout=timeout),
    )
    stack.push_async_callback(client.close)
    model = OpenAIChatModel(
        profile.model,
        provider=_service(profile.base_url, client),
        # Without this a stream that breaks off counts as a complete answer.
        profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True),
    )
    return LibraryProvider(
        model, first_event_timeout_s=profile.first_event_timeout_s, timeout_s=profile.timeout_s
    )


def _service(base_url: str | None, client: AsyncOpenAI) -> OpenAIProvider | OpenAICompatibleProvider:
    if base_url is None:
        return OpenAIProvider(openai_client=client)
    # The name says in stored histories which service may be sent its own signed data again.
    return OpenAICompatibleProvider(httpx2.URL(base_url).host or "local", openai_client=client)
