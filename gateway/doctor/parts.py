"""What an examination is made of."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.adapter import Condition, Finding

BAD_FIRST: tuple[Condition, ...] = ("failed", "warning", "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the whole (an account, the database, …) with what was found there; never without a finding."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def state(self) -> Condition:
        """The worst of its findings."""
        return worst(finding.state for finding in self.findings)


def worst(states: Iterable[Condition]) -> Condition:
    """The worst of these; "ok" for none."""
    found = set(states)
    return next((state for state in BAD_FIRST if state in found), "ok")
