"""Which messages are parts of one: a text that the sender's client had to split, and an album (pure).

Stated rules:
- A text longer than half of the platform's input limit may be the beginning of a longer one: Telegram Desktop
  cuts at the last good place of the second half (`TextUtilities::CutPart`, lib_ui, read 2026). The next text of
  the same person in the same conversation is its rest, if it is no answer to another message, has no file and was
  sent within five seconds; a rest that is itself short ends the text at once.
- A part that fills the limit was cut inside a word and is joined without anything between; of a shorter one the
  client has dropped the white space at the cut, and a line break stands for it.
- Messages with the same album id are one album, however long they take.
"""

from collections.abc import Sequence

from gateway.messages import InboundMessage
from gateway.store.inputs import Part

MOST_PARTS = 20
"""Parts of one message at the most; what comes after them begins the next one."""

TEXT = "text"

SPLIT_GAP_MS = 5_000


def gathers(message: InboundMessage, input_limit: int | None) -> str | None:
    """What more may come after this message: `text`, an album by its name, or None for a whole one."""
    if message.group_id is not None:
        return f"album:{message.group_id}"
    if input_limit is not None and not message.attachments and _units(message.text) > input_limit // 2:
        return TEXT
    return None


def may_continue(message: InboundMessage) -> str | None:
    """What waits for such a message, if anything does."""
    if message.group_id is not None:
        return f"album:{message.group_id}"
    return TEXT if message.text and not message.attachments and message.reply_to is None else None


def is_rest(parts: Sequence[Part], sent_at_ms: int) -> bool:
    """Whether a text sent at that time goes on with the last of these."""
    return bool(parts) and abs(sent_at_ms - parts[-1].sent_at_ms) <= SPLIT_GAP_MS


def joint(parts: Sequence[Part], input_limit: int | None) -> str:
    """What stands between the last of these and the rest of a split text."""
    is_full = bool(parts) and input_limit is not None and _units(parts[-1].text) >= input_limit
    return "" if is_full else "\n"


def _units(text: str) -> int:
    # UTF-16 units, the largest of the counts in use: a false alarm costs a second, a missed part an answer.
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
