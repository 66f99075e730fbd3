"""Asks each configured account's adapter for its own checks, side by side and for a bounded time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.adapter import ChecksItself, Checkup, Finding
from gateway.errors import AdapterError

CHECK_S = 30.0
"""How long one account may take; a platform that does not answer for so long is a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountToCheck:
    """An account by its place in the configuration; `make` loads its adapter, which may raise `AdapterError`."""

    place: str
    make: Callable[[], Any]


async def check_accounts(accounts: Sequence[AccountToCheck]) -> list[Checkup]:
    """The checkups, in the order given; whatever an adapter does is its own finding."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_check(account)) for account in accounts]
    return [task.result() for task in tasks]


async def _check(account: AccountToCheck) -> Checkup:
    try:
        adapter = account.make()
        if not isinstance(adapter, ChecksItself):
            return _one("ok", "has no checks of its own")
        async with asyncio.timeout(CHECK_S):
            return await adapter.check()
    except AdapterError as error:
        return _one("failed", "its adapter cannot be used", fix=str(error))
    except TimeoutError:
        return _one(
            "failed",
            f"no answer within {CHECK_S:g} s",
            fix="see whether the platform can be reached from this machine",
        )
    except Exception as error:  # noqa: BLE001 - a broken adapter must not hide how the others are
        return _one("failed", f"its check broke: {type(error).__name__}", fix="tell the adapter's author")


def _one(state: Any, detail: str, fix: str = "") -> Checkup:
    return Checkup(findings=(Finding(name="adapter", state=state, detail=detail, fix=fix),))
