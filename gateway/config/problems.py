"""What can be wrong with a configuration, said in a way that can be acted on.

Every check of this package returns or collects `Problem`s; `load_config` raises them all at once as
one `ConfigError`, so that a person corrects a file in one go instead of one start per mistake.
No problem ever holds a configured value that may be a secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from gateway.errors import ParleyError
from gateway.redaction import Redactor

EXIT_BAD_CONFIG = 78
"""Exit code for a configuration that cannot be used (EX_CONFIG of BSD's sysexits.h): no restart will help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake: what is wrong, where it stands, what to do about it. Each part is one line of text."""

    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}; {self.fix}"
        # Keys and names of variables are somebody's text; a line break in one must not forge a second line.
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


class ConfigError(ParleyError):
    """The configuration cannot be used. `problems` has at least one entry, in the order they were found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def quoted(value: str) -> str:
    """A configured value as a problem may repeat it: short, and hidden where it looks like a misplaced secret."""
    hidden = Redactor().text(value)
    return repr(hidden if len(hidden) <= 40 else hidden[:39] + "…")


def nearest(word: str, choices: Sequence[str]) -> str | None:
    """The choice that was most likely meant by `word`, without regard to case, or None."""
    by_folded = {choice.casefold(): choice for choice in choices}
    found = get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
