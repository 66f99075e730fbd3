"""`@name` of a configured agent in what a person wrote (pure)."""

import re
from collections.abc import Collection, Iterable


def mentioned(texts: Iterable[str], agents: Collection[str]) -> str | None:
    """The first configured agent that is spoken to by name, in any case; None if there is none.

    Args:
        texts: What was written, without its code: pieces in order, each with its own beginning and end.
        agents: The configured names. An `@` in the middle of a word (an address), or before a longer name, is none.
    """
    by_folded = {name.casefold(): name for name in agents}
    # The longest first: of `ann` and `ann-2`, `@ann-2` means the second.
    names = "|".join(re.escape(name) for name in sorted(by_folded, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w@./+-])@({names})(?![\w@]|[-./+]\w)", re.IGNORECASE)
    for text in texts:
        for found in pattern.finditer(text):
            name = by_folded.get(found[1].casefold())
            if name is not None:
                return name
    return None
