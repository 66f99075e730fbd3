"""A terminal whose process is another one: the daemon's side of it. All it shows goes over a link."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from adapters.terminal.place import able, keep_file, source_of, with_path
from gateway.adapter import Capabilities, Inbox
from gateway.errors import MessageRejected
from gateway.messages import OutboundMessage, Receipt
from gateway.source import SessionSource


class Link(Protocol):
    """The way to the other process, see `gateway.control`; both raise what `Adapter.send` raises."""

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show a message there."""
        ...

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Change one there."""
        ...


class JoinedTerminal:
    """One terminal that joined the daemon, as the account it was given."""

    def __init__(self, account: str, link: Link, *, files_dir: Path | None = None) -> None:
        """`files_dir`: where files for the person are put, on the machine that both share."""
        self._files_dir = files_dir
        self.source: SessionSource = source_of(account)
        self._link = link

    @property
    def platform(self) -> str:
        """The terminal's."""
        return self.source.platform

    @property
    def account(self) -> str:
        """Which of several terminals it is."""
        return self.source.account

    @property
    def capabilities(self) -> Capabilities:
        """A terminal's; a repeat is known there by its key as long as that process lives."""
        return replace(able(self._files_dir), idempotency="key", idempotency_window_s=86_400.0)

    async def run(self, inbox: Inbox) -> None:
        """Nothing to connect: what the person does comes over the link's connection."""
        inbox.online()
        await asyncio.get_running_loop().create_future()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show a message on the other side."""
        return await self._link.send(message)

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Keep the file and tell the other side where it is."""
        if message.file is None or self._files_dir is None:
            raise MessageRejected("there is no folder for files")
        path = await asyncio.to_thread(keep_file, self._files_dir, message.file)
        return await self._link.send(with_path(message, path))

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Show there what is new in a message."""
        await self._link.edit(message_id, message)
