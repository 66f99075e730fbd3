"""Google's Gemini API."""

from contextlib import AsyncExitStack

import httpx2
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from agent.provider import Provider
from agent.providers.library import LibraryProvider
from agent.settings import ModelProfile

_CONNECT_S = 10.0


def open_provider(profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> Provider:  # noqa: ARG001
    """A provider for one model; its connections are closed with the stack."""
    http_client = httpx2.AsyncClient(
        timeout=httpx2.Timeout(profile.first_event_timeout_s, connect=_CONNECT_S)
    )
    stack.push_async_callback(http_client.aclose)
    provider = GoogleProvider(
        api_key=profile.api_key or "none",  # else the SDK looks for one in our environment
        base_url=profile.base_url,
        http_client=http_client,
    )
    return LibraryProvider(
        GoogleModel(profile.model, provider=provider),
        first_event_timeout_s=profile.first_event_timeout_s,
        timeout_s=profile.timeout_s,
    )
