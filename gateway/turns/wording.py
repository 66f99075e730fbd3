"""How people's words reach the model (pure)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from gateway.messages import Target
from gateway.store.inputs import Given, TurnInputRow

_NAMED = 3  # files that are named one by one

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\[\]\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def for_model(given: TurnInputRow, requester: str) -> str:
    """The user's message. In a shared session each line begins with its speaker, `[name#id]`.

    Every line is marked, and the id belongs to the platform: a text or a name made to look like another person's
    line still carries its author's mark.
    """
    text = given.text
    if given.attachments:
        text = "\n".join([text, *map(_attached, given.attachments)]).strip()
    if not given.shared:
        return text
    mark = speaker_mark(given.speaker, requester)
    return "\n".join(f"{mark} {line}" for line in text.splitlines() or [""])


def says_nothing(given: TurnInputRow) -> bool:
    """Whether somebody sent nothing but files, of which none could be read."""
    is_read = any(each.text is not None for each in given.attachments)
    return bool(given.attachments) and not is_read and not given.text.strip()


def cannot_read(files: Sequence[Given]) -> str:
    """What somebody is told who sent nothing but files of which none could be read."""
    shown = ", ".join(
        f"{given.name}: {given.fault}" if given.fault else given.name for given in files[:_NAMED]
    )
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return (
        f"I cannot read this ({shown}{more}). I read text files; of others, tell me in words what you need."
    )


def list_faults(files: Sequence[Given]) -> str:
    """The files that should have been read and were not, each with why; "" if there are none."""
    return ", ".join(f"{given.name}: {given.fault}" for given in files if given.fault)


def size_words(size_bytes: int) -> str:
    """A size for people: 20 MB, 10.5 MB, 2,000 bytes."""
    return f"{size_bytes / 1_000_000:.3g} MB" if size_bytes >= 1_000_000 else f"{size_bytes:,} bytes"


def _attached(given: Given) -> str:
    if given.text is not None:
        return f"[attached file {given.name}]\n{given.text}\n[end of {given.name}]"
    why = f"; {given.fault}" if given.fault else ""
    return f"(attached, not readable here: {given.name}{why})"


def newer(text: str) -> str:
    """An edited message, for the model that reads the older one already."""
    return f"(I have changed my message. It now reads:)\n{text}"


def speaker_mark(name: str, requester: str) -> str:
    """`[name#id]`, with everything taken from the name that could end the mark or the line."""
    user_id = requester.split(":", 1)[1]
    return f"[{_UNFIT.sub('', name).strip()[:40] or 'user'}#{user_id}]"


def context_line(given: TurnInputRow, target: Target) -> str:
    """One line for the system prompt: where and when this was said, and by whom."""
    when = datetime.fromtimestamp(given.sent_at_ms / 1000, tz=UTC).strftime("%A, %Y-%m-%d %H:%M UTC")
    speaker = _UNFIT.sub("", given.speaker).strip()[:40] or "a user"
    where = "a conversation of several people" if given.shared else f"a chat with {speaker}"
    return f"You are in {where} on {target.platform}. It is {when}."


def denied_because(text: str) -> str:
    """How the model hears why a person denied a call."""
    return f"(The reason given for denying the tool call: {text})"


def task_goal(by: str, goal: str) -> str:
    """How an agent reads a task that another hands it."""
    return f"(The agent {by} hands you this task. When it is done, call task_end with a summary.)\n{goal}"


def task_summary(agent: str, summary: str) -> str:
    """How an agent reads what came out of a task it handed on."""
    return f"(The task you handed to {agent} has ended. Its summary:)\n{summary}"


def task_not_begun(agent: str) -> str:
    """How an agent reads that nobody wanted its task to begin."""
    return f"(The task for {agent} was not accepted; you stay in charge.)"


def task_not_ended() -> str:
    """How an agent reads that its task goes on."""
    return "(The end of your task was not accepted; it goes on.)"
