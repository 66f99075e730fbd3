"""Every error a caller acts upon, in one tree.

ParleyError
├── ConfigError         the configuration is wrong: exit 78          (gateway.config)
├── StateInUse          another process owns the state directory
├── AccountInUse        other processes serve all accounts
├── StoreUnavailable    the database cannot be opened or written
├── Fenced              this runner lost its lane: stop, write nothing
├── AdapterError        an adapter's connection
│   ├── AccessRefused   the platform refuses the account (token, missing right): a person must act
│   └── ConnectionLost  anything that a reconnect may mend
└── SendError           one message, raised by `Adapter.send` and its siblings
    ├── RateLimited     wait `retry_after_s`, then the same again
    ├── NotSent         certainly not sent (no connection, refused before it was read): try again
    ├── OutcomeUnknown  it may or may not have been sent (time-out, lost answer)
    ├── TargetGone      this chat will never take it (blocked, kicked, deleted)
    └── MessageRejected the platform refuses this very message; `markup` if for its formatting alone
        └── FileTooLarge a file that people sent is too large to be fetched; the text says the limit, for them
"""


class ParleyError(Exception):
    """The root: its text is fit to be read by the person who runs Parley."""


class StateInUse(ParleyError):
    """Another process owns the state directory."""


class AccountInUse(ParleyError):
    """Other processes serve all accounts there are to serve."""


class StoreUnavailable(ParleyError):
    """The database cannot be opened, read or written; the text says why and what to do."""


class Fenced(ParleyError):
    """Someone else owns the lane by now: whoever hears this stops at once and writes nothing."""


class AdapterError(ParleyError):
    """An adapter's connection to its platform."""


class AccessRefused(AdapterError):
    """The platform refuses the account; a new try without a person's change is in vain, so they are rare."""


class ConnectionLost(AdapterError):
    """The connection broke; the supervisor starts the adapter again."""


class SendError(ParleyError):
    """One message did not certainly arrive."""


class RateLimited(SendError):
    """The platform asks to wait before the next message to this target."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"the platform asks to wait {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class NotSent(SendError):
    """The message was certainly not taken; the same may be sent again."""


class OutcomeUnknown(SendError):
    """The request went out and no answer came back: sent or not, nobody here knows."""


class TargetGone(SendError):
    """The target takes no message any more.

    `moved_to` is the chat's new id where the platform names one (a Telegram group that became a supergroup).
    """

    def __init__(self, reason: str, *, moved_to: str | None = None) -> None:
        super().__init__(reason)
        self.moved_to = moved_to


class MessageRejected(SendError):
    """The platform refuses this message for what it is; `markup`: its formatting only, plain text may pass."""

    def __init__(self, reason: str, *, markup: bool = False) -> None:
        super().__init__(reason)
        self.markup = markup


class FileTooLarge(MessageRejected):
    """A file is too large to be fetched; the text goes on from "it is" and names the limit, for who sent it."""
