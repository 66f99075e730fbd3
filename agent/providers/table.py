"""Which providers there are, and how one is opened; the only place that knows their names.

Provider modules import the model library and vendors' SDKs: they are loaded by `load`, which the runtime
calls in a thread.
"""

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from agent.errors import SettingsError
from agent.provider import Provider
from agent.settings import ModelProfile

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "demo": "agent.providers.demo",
        "openai": "agent.providers.openai",
        "anthropic": "agent.providers.anthropic",
        "google": "agent.providers.google",
    }
)
"""Provider kind, as in `models.NAME.provider` → its module."""

KEYED = frozenset({"openai", "anthropic", "google"})
"""Kinds whose own service takes nobody without a key; a `base_url` of another service may."""


class _ProviderModule(Protocol):
    def open_provider(self, profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> Provider:
        """A provider for one model; what has to be closed is pushed on the stack."""
        ...


def load(kinds: Iterable[str]) -> None:
    """Import the modules of these providers; blocks for seconds.

    Raises:
        SettingsError: A provider's package is not installed.
    """
    for kind in sorted(set(kinds)):
        try:
            import_module(MODULES[kind])
        except ImportError as error:
            raise SettingsError(
                f"the provider {kind} needs a package that is not installed: {error}"
            ) from error


def open_provider(profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> Provider:
    """Open a provider whose module is loaded."""
    module = cast("_ProviderModule", import_module(MODULES[profile.provider]))
    return module.open_provider(profile, demo_delay_s=demo_delay_s, stack=stack)
