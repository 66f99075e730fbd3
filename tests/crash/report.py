"""What the crash run found, as the tables that `docs/delivery.md` holds between two marks."""

import re
from collections.abc import Iterable

from tests.crash.points import POINTS

BEGIN = "<!-- written by `make crash`; do not edit by hand -->"
END = "<!-- end of what `make crash` writes -->"


def points_table(results: Iterable[tuple[str, str, str]]) -> str:
    """Results as (point, platform, "holds" or what went wrong), in the table's form."""
    by_point: dict[str, list[str]] = {}
    for name, platform, result in results:
        by_point.setdefault(name, []).append(f"{platform}: {result}")
    lines = ["| killed while | after the next start | found |", "|---|---|---|"]
    for name, found in by_point.items():
        moment, _, holds = (POINTS[name][0].__doc__ or "").partition("\n\n")
        cells = (" ".join(moment.split()), " ".join(holds.split()), "; ".join(found))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def render_block(content: str) -> str:
    """The marked block with this content."""
    return f"{BEGIN}\n{content.strip()}\n{END}\n"


def replace_block(text: str, content: str) -> str:
    """The document with the block's content replaced.

    Raises:
        ValueError: the document has no block.
    """
    block = re.compile(re.escape(BEGIN) + r"\n.*?" + re.escape(END) + r"\n", re.DOTALL)
    if not block.search(text):
        raise ValueError("the document has no block to write into")
    return block.sub(lambda _: render_block(content), text, count=1)
