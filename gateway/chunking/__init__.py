"""Chunking: the one place where a reply too long for a message is cut, for every path and platform."""

from gateway.chunking.split import Measure, split

__all__ = ["Measure", "split"]
