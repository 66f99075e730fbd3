"""Which tool calls may run without asking, and who must be asked: globs over `server/tool`, from configuration."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Verdict = Literal["allow", "ask", "deny"]

BY_TWO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """`deny` beats `allow` beats `ask`; a tool no glob names follows its own default, else `default`.

    `two_person` tools always ask, and no grant covers them: two different people must approve each call.
    `admin_only` tools are denied to the turns of everybody else.
    """

    default: Verdict = "ask"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    two_person: tuple[str, ...] = ()
    admin_only: tuple[str, ...] = ()

    def verdict(self, ref: str, tool_default: str) -> Verdict:
        """What to do with a call of `server/tool`.

        A tool's own default counts only where it is stricter or where it is one of the built-in tools that ask for
        nothing: a server of others cannot declare itself harmless, its tools come with "ask".
        """
        if _matches(self.deny, ref):
            return "deny"
        if _matches(self.two_person, ref):
            return "ask"
        if _matches(self.allow, ref):
            return "allow"
        if tool_default == "ask":
            return self.default
        return "allow" if tool_default == "allow" else "deny"

    def needed(self, ref: str) -> int:
        """How many people must approve a call."""
        return BY_TWO if _matches(self.two_person, ref) else 1

    def is_for_admins(self, ref: str) -> bool:
        """Whether only admins' turns may use the tool."""
        return _matches(self.admin_only, ref)


def _matches(globs: tuple[str, ...], ref: str) -> bool:
    return any(fnmatchcase(ref, glob) for glob in globs)
