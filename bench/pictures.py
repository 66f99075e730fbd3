"""Draw the pictures of docs/rendering.md: `python bench/pictures.py`, with Chromium on the path.

Reads the answers (docs/rendering/*.md) and writes one PNG for each answer and platform, and the page that shows them.
"""

import asyncio
import importlib
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.async_api import Browser, async_playwright

from adapters.preview_page import page
from gateway.chunking import split
from gateway.document import parse

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "docs" / "rendering"
LIMITS = {"telegram": 4096, "discord": 2000, "slack": 12_000}

HEAD = """# Rendering

What a model writes, and what people see of it. Markdown is parsed once (`gateway/document`), split once
(`gateway/chunking`) and rendered by each adapter's own pure `render`. The pictures are made from what each adapter
would send, by `python bench/pictures.py`; `parley preview FILE --platform telegram` shows any file the same way.

"""


def messages(source: str, platform: str) -> str:
    """Return the page of an answer on a platform."""
    render = importlib.import_module(f"adapters.{platform}.render")
    show = importlib.import_module(f"adapters.{platform}.preview").show
    pieces = split(parse(source), render.measure, LIMITS[platform])
    return page([show(piece) for piece in pieces], platform=platform)


async def draw(browser: Browser, html: str, picture: Path) -> None:
    """Write a picture of a page, as high as what it shows."""
    tab = await browser.new_page(viewport={"width": 500, "height": 60}, device_scale_factor=1)
    await tab.set_content(html)
    await tab.screenshot(path=picture, full_page=True)
    await tab.close()


async def main() -> None:
    """Draw everything and write the page."""
    parts = [HEAD]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for answer in sorted(HERE.glob("*.md")):
            source = answer.read_text(encoding="utf-8")
            number, _, name = answer.stem.partition("-")
            title = name.replace("-", " ").capitalize()
            parts.append(f"## {int(number)}. {title}\n\n`````markdown\n{source.rstrip()}\n`````\n\n")
            parts.append("| Telegram | Discord | Slack |\n|---|---|---|\n|")
            for platform in LIMITS:
                picture = HERE / f"{answer.stem}.{platform}.png"
                await draw(browser, messages(source, platform), picture)
                parts.append(f" ![{title} on {platform.capitalize()}](rendering/{picture.name}) |")
            parts.append("\n\n")
        await browser.close()
    (ROOT / "docs" / "rendering.md").write_text("".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
