"""Anthropic's Messages API."""

from contextlib import AsyncExitStack

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from agent.provider import Provider
from agent.providers.library import LibraryProvider
from agent.settings import ModelProfile

_ANTHROPIC = "https://api.anthropic.com"
_CONNECT_S = 10.0


def open_provider(profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> Provider:  # noqa: ARG001
    """A provider for one model; its connections are closed with the stack."""
    client = AsyncAnthropic(
        api_key=profile.api_key or "none",  # else the SDK looks for one in our environment
        base_url=profile.base_url or _ANTHROPIC,
        max_retries=0,  # retries are the chat's: it has to take back what was streamed
        timeout=httpx2.Timeout(profile.first_event_timeout_s, connect=_CONNECT_S),
    )
    stack.push_async_callback(client.close)
    return LibraryProvider(
        AnthropicModel(profile.model, provider=AnthropicProvider(anthropic_client=client)),
        first_event_timeout_s=profile.first_event_timeout_s,
        timeout_s=profile.timeout_s,
        declares_tools=True,  # "Requests which include `tool_use` or `tool_result` blocks must define tools."
    )
