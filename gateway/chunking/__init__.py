"""Chunking: the one place where a reply too long for a message is cut, for every path and platform.

`split` cuts final texts, captions and cards, `grow` a reply still being written, `shorten_middle` one
argument of a card, `opening` the beginning of a reply that goes out as a file. All work on documents, never
on Markdown or on what a platform's renderer wrote; what counts against the limit is the target's own measure.
"""

from gateway.chunking.growing import Growth, grow
from gateway.chunking.shorten import opening, shorten_middle
from gateway.chunking.split import Measure, split

__all__ = ["Growth", "Measure", "grow", "opening", "shorten_middle", "split"]
