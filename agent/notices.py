"""What the agent says to people in its own words: a provider's may hold keys, addresses and paths (pure)."""

from agent.errors import ContextTooLong, ProviderBusy, ProviderDown, ProviderError, ProviderRefused, StreamCut

EMPTY = "The model gave an empty answer, twice. Please ask again, perhaps in other words."
CUT_BY_LENGTH = "The answer reached the model's length limit and ends here."
FILTERED = "The provider's content filter stopped this answer."
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
            text = "This conversation has become too long for the model. Start a new one with /new."
        case StreamCut():
            text = "The answer broke off half-way, several times. Please try again."
        case ProviderDown() | _:
            text = "The model could not be reached. Please try again in a minute."
    return f"{text} (reference {reference})"


def fallback_answered(own: str, other: str) -> str:
    """Said when another model of the chain had to answer."""
    return f"The model {own} did not answer; this is from {other}."


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{round(seconds)} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 7200 else f"{round(seconds / 3600)} hours"
