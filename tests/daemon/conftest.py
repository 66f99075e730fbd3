"""The unchanged daemon as its users run it: a process, real python-telegram-bot, a model behind an address."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.process import DaemonProcess, Ended, command
from tests.simulators.model import ModelSimulator
from tests.simulators.telegram import TelegramSimulator


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One daemon's world: its folder, a Telegram and a model service."""

    folder: Path
    telegram: TelegramSimulator
    model: ModelSimulator

    @property
    def env(self) -> dict[str, str]:
        """What a daemon of this world, and commands beside it, are configured with."""
        return {
            "PARLEY_TELEGRAM__TOKEN": self.telegram.token,
            "PARLEY_TELEGRAM__API_BASE": self.telegram.url,
            "PARLEY_ACCESS__ALLOW__TELEGRAM": "*",
            "PARLEY_AGENTS__DEFAULT__MODEL": "sim",
            "PARLEY_MODELS__SIM__PROVIDER": "openai",
            "PARLEY_MODELS__SIM__MODEL": "sim",
            "PARLEY_MODELS__SIM__BASE_URL": self.model.base_url,
            "PARLEY_MODELS__SIM__API_KEY": "sk-simulated",
        }

    def daemon(self, **env: str) -> DaemonProcess:
        """A daemon of this world, not started; `env` is added to what it needs."""
        return DaemonProcess(self.folder, {**self.env, **env})

    async def command(self, *args: str, typed: str = "") -> Ended:
        """Run one command beside the daemon to its end."""
        return await command(self.folder, self.env, *args, typed=typed)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """A world with nothing in it yet."""
    async with TelegramSimulator() as telegram, ModelSimulator() as model:
        yield Site(folder=tmp_path, telegram=telegram, model=model)
