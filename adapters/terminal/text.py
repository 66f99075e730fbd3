"""Text that is safe to write to a terminal."""

_CONTROLS = {code: "�" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """The text without control characters: a model or a tool must not move the cursor or set colours."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)
