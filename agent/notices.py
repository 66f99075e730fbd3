"""What the agent says to people in its own words: a provider's may hold keys, addresses and paths (pure)."""

from agent.errors import ContextTooLong, ProviderBusy, ProviderDown, ProviderError, ProviderRefused, StreamCut

EMPTY = "The model gave an empty answer, twice. Please ask again, perhaps in other words."
CUT_BY_LENGTH = "The answer reached the model's length limit and ends here."
FILTERED = "The provider's content filter stopped this answer."
TOO_LONG = "This conversation does not fit the model any more. Start a new one with /new."
NOT_COMPRESSED = "I could not shorten our long conversation just now; nothing of it is lost."
HANDED_OVER = "Handed to the task system."


def provider_failed(error: ProviderError, reference: str) -> str:
    """A kind line for the user; `reference` is also in the log, beside what really happened."""
    match error:
        case ProviderBusy(retry_after_s=float() | int() as wait_s) if wait_s >= 1:
            text = f"The model is busy; its provider asks to wait {_duration(wait_s)}. Please try again then."
        case ProviderBusy():
            text = "The model is busy right now. Please try again in a minute."
        case ProviderRefused():
            text = (
                "The model's provider refused the request. Whoever runs this bot has to look at its settings."
            )
        case ContextTooLong():
            text = "This is too long for the model. Send less at once, or start a new conversation with /new."
        case StreamCut():
            text = "The answer broke off half-way, several times. Please try again."
        case ProviderDown() | _:
            text = "The model could not be reached. Please try again in a minute."
    return f"{text} (reference {reference})"


def message_too_long(tokens: int, window: int) -> str:
    """Said when a single message does not fit; both are in tokens, and `tokens` is an estimate."""
    return (
        f"Your message is too long for the model: about {tokens:,} tokens, and it can read {window:,}."
        " I did not keep it; please send it in smaller parts."
    )


def fallback_answered(own: str, other: str, why: ProviderError | None) -> str:
    """Said when another model of the chain had to answer; `why`: None if `own` was not asked, having failed before."""
    match why:
        case None:
            reason = "failed a short while ago and is left alone for now"
        case ProviderBusy():
            reason = "is busy (its provider limits how much may be asked)"
        case ProviderRefused():
            reason = "was refused by its provider (the key, the quota or the model's name; the log says more)"
        case ContextTooLong():
            reason = "cannot read a conversation this long"
        case StreamCut():
            reason = "broke off half-way, several times"
        case ProviderDown() | _:
            reason = "could not be reached"
    return f"The model {own} {reason}; this is from {other}."


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{round(seconds)} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 7200 else f"{round(seconds / 3600)} hours"
