"""`parley preview`: how a Markdown file would look on a platform, as a page to open in a browser."""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from adapters import find_adapters
from adapters.preview_page import page
from gateway.chunking import split
from gateway.cli.loading import say
from gateway.document import parse


def preview(
    file: Annotated[Path, typer.Argument(help="A Markdown file; - reads standard input.")],
    platform: Annotated[str, typer.Option(help="Whose messages to show.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where the page goes.")] = None,
) -> None:
    """Show what a platform makes of a Markdown file, cut into its messages, as an HTML page."""
    shown = _previewer(platform)
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        say(f"{file} cannot be read: {error}")
        raise typer.Exit(1) from None
    measure = importlib.import_module(f"adapters.{platform}.render").measure
    pieces = split(parse(text), measure, shown.LIMIT)
    made = page([shown.show(piece) for piece in pieces], platform=platform, title=file.name)
    if output is None:
        typer.echo(made)
    else:
        output.write_text(made, encoding="utf-8")
        say(f"{len(pieces)} messages, see {output}")


def _previewer(platform: str) -> Any:
    known = [name for name in find_adapters() if _has_preview(name)]
    if platform not in known:
        say(f"{platform} cannot be previewed; there are {', '.join(known)}")
        raise typer.Exit(1)
    return importlib.import_module(f"adapters.{platform}.preview")


def _has_preview(platform: str) -> bool:
    return importlib.util.find_spec(f"adapters.{platform}.preview") is not None
