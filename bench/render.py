"""What rendering costs: `python bench/render.py`.

Prints, for Telegram, from Markdown to pieces ready to send: the time of each doubling up to 1 MB for several shapes of
text (limit 2.3 times a doubling), the cost of a usual 2 kB reply (limit 5 ms), and the ratio to telegramify-markdown's
`convert` for 1 MB (limit 3, for parse and render; the splitting is shown beside it).
"""

import gc
import resource
import statistics
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from markdown_it import MarkdownIt
from pyromark import Options, events
from telegramify_markdown import convert

from adapters.telegram.render import MAX_TEXT, measure, render
from gateway.chunking import grow, split
from gateway.document import parse

REPLY = (
    "Here is **what I found** in `main.py`:\n\n1. The *first* thing is [a link](https://example.test/a?b=c) and "
    "text that goes on for a while so it is a paragraph.\n2. Second item\n   - nested one\n   - nested two\n\n"
    "```python\ndef f(x):\n    return x * 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n"
    "> a quote of some words\n\nSome closing text, which has ~~struck~~ words and 2*3*4 in it, and goes on.\n\n"
)
ROUNDS = 5
SHAPES: dict[str, Callable[[int], str]] = {
    "usual replies": lambda size: REPLY * (size // len(REPLY)),
    "one line of words": lambda size: "word " * (size // 5),
    "one line without a space": lambda size: "x" * size,
    "one code block": lambda size: "```\n" + "    x = 1\n" * (size // 10) + "```",
    "one table": lambda size: "| a | b |\n|---|---|\n" + "| cell | other |\n" * (size // 17),
    "one list": lambda size: "- item with `code`\n" * (size // 19),
    "bold words": lambda size: "**a** " * (size // 6),
    "stars": lambda size: "*a " * (size // 3),
    "spoilers": lambda size: "||a|| " * (size // 6),
}
HOSTILE: dict[str, Callable[[int], str]] = {
    "100,000 backticks": lambda count: "`" * count * 10,
    "100,000 backticks apart": lambda count: "` " * count * 10,
    "10,000 nested quotes": lambda count: "> " * count + "x",
    "10,000 nested brackets": lambda count: "[" * count + "x" + "]" * count,
    "10,000 nested lists": lambda count: "- " * count + "x",
    "10,000 open bold": lambda count: "**a " * count,
    "10,000 open links": lambda count: "[a](" * count,
}


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the least user CPU time of some runs; what the system does for others' memory is not ours."""
    taken = []
    for _ in range(times):
        gc.collect()  # the garbage of the run before is not this one's
        begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        work()
        taken.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin)
    return min(taken)


def pieces(source: str) -> object:
    return split(parse(source), measure, MAX_TEXT)


def to_pieces(sources: list[str]) -> list[float]:
    """Return the least time for each source over rounds, so that a busy moment spoils no single size."""
    least = [float("inf")] * len(sources)
    for _ in range(ROUNDS):
        for index, source in enumerate(sources):
            least[index] = min(least[index], seconds(lambda source=source: pieces(source)))
    return least


def doublings() -> None:
    """Print the growth, Python's collector included: its passes grow with what lives."""
    print("from Markdown to pieces, user CPU seconds at 125, 250, 500, 1000 kB, and the worst doubling")
    for name, shape in SHAPES.items():
        sources = [shape(size) for size in (125_000, 250_000, 500_000, 1_000_000)]
        took = to_pieces(sources)
        print(f"  {name:28}", *(f"{value:7.3f}" for value in took), f"   x{worst(took):.2f}")
    print("hostile texts, and twice as much")
    for name, shape in HOSTILE.items():
        took = to_pieces([shape(count) for count in (10_000, 20_000)])
        print(f"  {name:28} {took[0]:7.3f} {took[1]:7.3f}   x{took[1] / max(took[0], 0.001):.2f}")


def worst(took: list[float]) -> float:
    """Return the worst ratio of a doubling among times long enough to be told apart."""
    return max((after / before for before, after in pairwise(took) if before > 0.02), default=0.0)


def usual() -> None:
    source = (REPLY * 4)[:2000]
    took = [seconds(lambda: pieces(source)) for _ in range(200)]
    print(
        f"2 kB reply to pieces: median {statistics.median(took) * 1000:.2f} ms, worst {max(took) * 1000:.2f} ms"
    )
    grown = [seconds(lambda: grow(source, (), measure, MAX_TEXT)) for _ in range(50)]
    print(f"2 kB stream, one step: median {statistics.median(grown) * 1000:.2f} ms")
    long = REPLY * 20
    cuts = grow(long, (), measure, MAX_TEXT).cuts
    step = seconds(lambda: grow(long, cuts, measure, MAX_TEXT), 5)
    print(f"{len(long) // 1000} kB stream, one step: {step * 1000:.1f} ms")


def yardstick() -> None:
    source = SHAPES["usual replies"](1_000_000)
    theirs = seconds(lambda: convert(source), 3)
    document = parse(source)
    ours = seconds(lambda: render(parse(source)), 3)
    cut = seconds(lambda: split(document, measure, MAX_TEXT), 2)
    print(
        f"1 MB: telegramify-markdown convert {theirs:.2f} s; parse and render {ours:.2f} s, x{ours / theirs:.2f}"
    )
    print(
        f"      split {cut:.2f} s; parse and split x{(seconds(lambda: parse(source), 3) + cut) / theirs:.2f}"
    )


def parsers() -> None:
    source = SHAPES["usual replies"](1_000_000)
    options = Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH | Options.ENABLE_TASKLISTS
    rust = seconds(lambda: list(events(source, options=options)), 3)
    python = seconds(lambda: MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source))
    print(f"parsers alone, 1 MB: pyromark {rust:.2f} s, markdown-it-py {python:.2f} s")


if __name__ == "__main__":
    usual()
    yardstick()
    parsers()
    doublings()
