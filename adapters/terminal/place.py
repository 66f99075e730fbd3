"""What a terminal is to the gateway: its source, its account and what it can show.

Apart from the adapter, so that a daemon which terminals may join need not load what draws on a screen.
"""

from gateway.adapter import Capabilities
from gateway.document import Document, plain
from gateway.source import SessionSource

LIMIT = 100_000
"""Characters of one message: a terminal has no limit, but a piece of a reply should have one."""


def source_of(account: str) -> SessionSource:
    """The person at the terminal that is this account: each account is a conversation of its own."""
    return SessionSource(
        platform="terminal", account=account, kind="dm", chat_id=account, user_id="local", user_name="you"
    )


def measure(document: Document) -> int:
    """The characters of what a reader sees."""
    return len(plain(document))


HERE = source_of("local")

CAPABILITIES = Capabilities(
    measure=measure, limit=LIMIT, edit_limit=LIMIT, markup="ansi", buttons=True, edit_gap_s=0.0
)
"""A long limit, numbered buttons, no threads."""
