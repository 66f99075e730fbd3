"""What becomes of an outbox row after a try: a pure decision on the error, as data for the sender to carry out."""

from dataclasses import dataclass

from tenacity import wait_random_exponential
from tenacity.wait import wait_base

from gateway.adapter import Capabilities
from gateway.clock import wait_s
from gateway.document import Document
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, RateLimited, SendError, TargetGone
from gateway.store.outbox import Claimed

# Between tries of one message while its platform cannot be reached: 0-1 s, then doubling up to a minute.
BACKOFF: wait_base = wait_random_exponential(multiplier=1, max=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Shown; `message_id` is None for an edit. `is_old`: an earlier try did, with a text that is to be edited."""

    message_id: str | None
    is_old: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Try again after `wait_s`; `whole_chat`: everything else to this chat waits as well (a rate limit).

    `unsure`: this try may have shown it, which is to be settled before the next one.
    """

    wait_s: float
    error: str
    whole_chat: bool = False
    unsure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainAgain:
    """Once more without formatting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anew:
    """The message to edit is no more: send the content as a new one; `rest`: only what was not shown before."""

    rest: Document | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Final: this message will not be shown; `instead` is shown in its place."""

    error: str
    instead: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """This chat takes nothing any more; `moved_to` is where it goes on, if it does."""

    error: str
    moved_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Nobody can say whether it was shown; it is not repeated silently."""

    error: str


Outcome = Sent | Again | PlainAgain | Anew | Refused | Gone | Unknown


def judge(error: SendError, row: Claimed, capabilities: Capabilities) -> Outcome:
    """What an error of `Adapter.send` or `edit` means for its row."""
    text = str(error)
    match error:
        case RateLimited():
            return Again(wait_s=error.retry_after_s, error=text, whole_chat=True)
        case NotSent():
            return Again(wait_s=backoff_s(row.attempts), error=text)
        case OutcomeUnknown():
            return _unknown(text, row, capabilities)
        case TargetGone():
            return Gone(error=text, moved_to=error.moved_to)
        case MessageRejected():
            return _rejected(error, row)
        case _:
            return Refused(error=text)


def backoff_s(attempts: int) -> float:
    """Seconds before the next try after `attempts` failed ones."""
    return wait_s(BACKOFF, attempts)


def _unknown(text: str, row: Claimed, capabilities: Capabilities) -> Outcome:
    # The same edit twice shows the same; a key repeats safely; a look-up comes before the next try.
    if row.edits is not None or capabilities.idempotency != "none":
        return Again(wait_s=backoff_s(row.attempts), error=text, unsure=True)
    return Unknown(error=text)


def _rejected(error: MessageRejected, row: Claimed) -> Outcome:
    if error.markup and not row.message.plain:
        return PlainAgain()
    if row.ends_stream or (row.edits is not None and row.message.buttons):
        return Anew()
    return Refused(error=str(error))
