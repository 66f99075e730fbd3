"""What can go wrong between an agent and the world; one class for each thing a caller does differently.

AgentError
├── SettingsError        the configuration names what does not exist: say so and stop
└── ProviderError        a send failed
    ├── ProviderBusy     rate limit or overload: wait `retry_after_s`, then again
    ├── ProviderDown     unreachable, timed out or broken: again, then another model
    ├── StreamCut        the stream ended without its end: again, what was shown is void
    ├── ProviderRefused  the request or the account is refused: another model, never the same again
    └── ContextTooLong   the request does not fit the model's window: make it shorter
"""


class AgentError(Exception):
    """Base of all errors of this package."""


class SettingsError(AgentError):
    """The configuration asks for something that does not exist; the text says what and names the nearest."""


class ProviderError(AgentError):
    """A send failed. The text is for the log only: a provider's words may hold keys, addresses and paths."""


class ProviderBusy(ProviderError):
    """The provider limits our rate or is overloaded.

    Attributes:
        retry_after_s: What the provider asked us to wait, in seconds; None if it did not say.
    """

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class ProviderDown(ProviderError):
    """The provider cannot be reached, did not answer in time, or failed on its side (5xx)."""


class StreamCut(ProviderError):
    """The stream broke off before the model said it was done; nothing of it may be taken for an answer."""


class ProviderRefused(ProviderError):
    """The provider refuses this request or this account (key, quota, model): trying again is useless."""


class ContextTooLong(ProviderError):
    """The conversation is longer than the model's context window."""
