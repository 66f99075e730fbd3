"""Mixed Markdown of any length.

The same for the same length, every construct that splitters and renderers must carry.
"""

from itertools import count

END = "\n\n**end**"
_BLOCKS = (
    "Paragraph {n}: plain words with **bold**, *italic*, `code`, ~~struck~~ and a [link](https://example.org/{n}).",
    "## Heading {n}",
    "- item {n}.1\n- item {n}.2 with **bold**\n  - nested {n}.3",
    "1. first of {n}\n2. second of {n}\n3. third of {n}",
    (
        "```python\ndef number_{n}(value: int) -> int:\n"
        "    # indented, with * and _ and [brackets]\n    return value * {n}\n```"
    ),
    "| key | value |\n|---|---|\n| row {n} | a cell |\n| 2*3*4 | snake_case_name |",
    "> A quotation, number {n},\n> on two lines.",
    "Wide characters {n}: 漢字かな交じり文, accents é ü ñ, emoji 👩‍👩‍👧‍👦 🎉 and ✅.",
)


def mixed_markdown(characters: int) -> str:
    """A text of exactly this many characters (code points), ending in a bold "end" if there is room for it."""
    if characters <= len(END):
        return "x" * characters
    room = characters - len(END)
    parts: list[str] = []
    length = 0
    for number in count(1):
        block = _BLOCKS[(number - 1) % len(_BLOCKS)].format(n=number)
        if length + len(block) + 2 > room:
            break
        parts.append(block + "\n\n")
        length += len(block) + 2
    # Fill up with words rather than cut a construct in half.
    filler = ("filling words " * (room // 14 + 1))[: room - length]
    return "".join(parts) + filler[:-1] + ("." if filler else "") + END
