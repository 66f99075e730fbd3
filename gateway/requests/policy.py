"""Which tool calls may run without asking: globs over `server/tool`, from configuration alone."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """`deny` beats `allow` beats `ask`; a tool no glob names follows its own default, else `default`."""

    default: Verdict = "ask"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def verdict(self, ref: str, tool_default: str) -> Verdict:
        """What to do with a call of `server/tool`.

        A tool's own default counts only where it is stricter or where it is one of the built-in tools that ask for
        nothing: a server of others cannot declare itself harmless, its tools come with "ask".
        """
        if _matches(self.deny, ref):
            return "deny"
        if _matches(self.allow, ref):
            return "allow"
        if tool_default == "ask":
            return self.default
        return "allow" if tool_default == "allow" else "deny"


def _matches(globs: tuple[str, ...], ref: str) -> bool:
    return any(fnmatchcase(ref, glob) for glob in globs)
