"""A flow chart as data: which test walks which of its edges, and that none is left out.

An edge is written `A -> B`, with what stands on the arrow, if anything, in between: `A -yes-> B`.
"""

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., object])


class Chart:
    """The edges of one chart, as lines of text, and the tests that walk them."""

    def __init__(self, edges: str) -> None:
        self.edges = [line.strip() for line in edges.strip().splitlines() if line.strip()]
        self.walked: dict[str, list[str]] = {edge: [] for edge in self.edges}

    def walks(self, *edges: str) -> Callable[[Test], Test]:
        """The decorated test shows these edges; an unknown one is a mistake in the test."""

        def note(test: Test) -> Test:
            for edge in edges:
                self.walked[edge].append(test.__name__)
            return test

        return note

    @property
    def unwalked(self) -> list[str]:
        return [edge for edge, tests in self.walked.items() if not tests]
