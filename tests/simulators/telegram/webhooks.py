"""Delivery of updates to webhooks: in order, one at a time, kept until the receiver answered with a 2xx."""

import asyncio

from aiohttp import ClientError, ClientSession, ClientTimeout

from .world import Account, World

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
RETRY_S = 0.05  # the platform backs off further; tests have no use for that
TIMEOUT_S = 10


class WebhookSender:
    """Posts pending updates of every bot that has a webhook."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to deliver."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop; undelivered updates stay pending."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        await self._world.webhook_was_set.wait()  # until then nothing needs watching
        async with ClientSession(timeout=ClientTimeout(total=TIMEOUT_S)) as session:
            while True:
                account = await self._world.changes.until(self._next, timeout_s=float("inf"))
                if not await self._deliver(session, account):
                    await asyncio.sleep(RETRY_S)

    def _next(self) -> Account | None:
        for account in self._world.accounts.values():
            if account.webhook_url and account.updates.pending:
                return account
        return None

    async def _deliver(self, session: ClientSession, account: Account) -> bool:
        update = account.updates.pending[0]
        headers = {SECRET_HEADER: account.webhook_secret} if account.webhook_secret else {}
        try:
            async with session.post(account.webhook_url, json=update.body(), headers=headers) as answer:
                is_taken = 200 <= answer.status < 300
                account.webhook_error = (
                    "" if is_taken else f"Wrong response from the webhook: {answer.status} {answer.reason}"
                )
        except (ClientError, TimeoutError) as error:
            is_taken, account.webhook_error = False, str(error) or type(error).__name__
        if is_taken:
            account.updates.confirm(update.id + 1)
        self._world.changes.notify()
        return is_taken
