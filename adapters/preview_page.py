"""A page that shows messages as platforms show them, for a person to look at; what they are is each adapter's to say.

An adapter's `preview.show(piece)` makes the HTML of one message from what its `render` would send, not from the
document, so that the page shows what arrives. The page holds everything it needs.
"""

from collections.abc import Sequence
from html import escape
from typing import Final

_STYLE: Final = """
body { margin: 0; padding: 16px; font: 15px/1.4 "Noto Sans", "DejaVu Sans", sans-serif; }
.message { max-width: 460px; margin: 0 0 10px; padding: 8px 12px; border-radius: 12px; overflow-wrap: anywhere;
  white-space: pre-wrap; }
.message pre, .message code { font: 13px/1.35 "DejaVu Sans Mono", monospace; }
.message pre { margin: 4px 0; padding: 6px 8px; border-radius: 6px; white-space: pre; overflow: hidden; }
.message blockquote { margin: 2px 0; padding: 2px 8px; border-left: 3px solid; }
.message h1, .message h2, .message h3 { margin: 0; line-height: 1.3; }
.message h1 { font-size: 22px; } .message h2 { font-size: 19px; } .message h3 { font-size: 16px; }
.message ol, .message ul { margin: 0; padding-left: 24px; white-space: normal; }
.spoiler { border-radius: 3px; background: #8888; color: transparent; }
body.telegram { background: #d5e3c7; } .telegram .message { background: #fff; }
.telegram pre, .telegram code { color: #2a5db0; } .telegram pre { background: #eef3fa; }
.telegram blockquote { background: #eef6ee; border-color: #4fae4e; }
body.discord { background: #313338; color: #dbdee1; } .discord .message { padding: 0; }
.discord pre, .discord code { background: #2b2d31; } .discord blockquote { border-color: #4e5058; }
.discord a { color: #00a8fc; }
body.slack { background: #fff; color: #1d1c1d; } .slack .message { padding: 0; }
.slack pre, .slack code { background: #f4f4f4; border: 1px solid #ddd; } .slack code { color: #c01343; }
.slack pre code { color: inherit; border: 0; } .slack blockquote { border-color: #ddd; }
"""


def page(messages: Sequence[str], *, platform: str, title: str = "") -> str:
    """Return a whole HTML page with one bubble for each message, given as safe HTML."""
    bubbles = "".join(f'<div class="message">{message}</div>' for message in messages)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title or platform)}</title>'
        f'<style>{_STYLE}</style><body class="{escape(platform)}">{bubbles}</body></html>'
    )
