"""The platforms Parley knows: the table from a platform's name to its adapter and its settings.

The table holds names, not classes: nothing is imported before a platform is used, so that an SDK that is not
installed, or is broken, is nobody else's trouble. Only `gateway.cli` reads the table; it hands it to `config`
and `daemon`. A package of somebody else joins it with two entry points in the group `parley.adapters`:

    [project.entry-points."parley.adapters"]
    matrix = "parley_matrix.adapter:MatrixAdapter"
    "matrix.settings" = "parley_matrix.settings:MatrixSettings"
"""

import importlib
import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import structlog

from gateway.errors import AdapterError

GROUP = "parley.adapters"
_SETTINGS = ".settings"
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterEntry:
    """Where a platform's adapter and settings are found, as `module:Class`.

    The adapter class is called with `(settings, api)`, see `gateway.adapter`. The settings are a frozen
    pydantic model that forbids unknown keys and has a property `enabled`: whether enough is set to connect.
    Its module imports no SDK, since configuration is read before anybody knows which platforms are used.
    `joined`: the adapter, inside the daemon, of a terminal in another process, called with `(account, link)`.
    `extra` is the optional dependency that brings the SDK, as in `pip install parley-gateway[extra]`.
    """

    adapter: str
    settings: str
    extra: str | None = None
    joined: str | None = None

    def load_adapter(self) -> Any:
        """The adapter class, imported now.

        Raises:
            AdapterError: it cannot be imported; the text says what to install.
        """
        return self._load(self.adapter)

    def load_settings(self) -> Any:
        """The settings model, imported now.

        Raises:
            AdapterError: as for `load_adapter`.
        """
        return self._load(self.settings)

    def load_joined(self) -> Any:
        """The class for a terminal in another process, imported now."""
        assert self.joined is not None
        return self._load(self.joined)

    def _load(self, name: str) -> Any:
        module, _, attribute = name.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if self.extra is None:
                raise AdapterError(f"{name} cannot be imported: {error}") from error
            raise AdapterError(
                f"{error.name} is not installed: run `pip install 'parley-gateway[{self.extra}]'`"
            ) from error
        except (ImportError, AttributeError) as error:
            raise AdapterError(f"{name} cannot be imported: {error}") from error


BUILT_IN: dict[str, AdapterEntry] = {
    "discord": AdapterEntry(
        adapter="adapters.discord.adapter:DiscordAdapter",
        settings="adapters.discord.settings:DiscordSettings",
        extra="discord",
    ),
    "telegram": AdapterEntry(
        adapter="adapters.telegram.adapter:TelegramAdapter",
        settings="adapters.telegram.settings:TelegramSettings",
        extra="telegram",
    ),
    "slack": AdapterEntry(
        adapter="adapters.slack.adapter:SlackAdapter",
        settings="adapters.slack.settings:SlackSettings",
        extra="slack",
    ),
}

TERMINAL = AdapterEntry(
    adapter="adapters.terminal.adapter:TerminalAdapter",
    settings="adapters.terminal.settings:TerminalSettings",
    joined="adapters.terminal.joined:JoinedTerminal",
)
"""Not in the table, since no configuration starts it: `parley chat` and a `parley run` without token do."""


def find_adapters() -> dict[str, AdapterEntry]:
    """Every platform by name: the built-in ones, then those of installed packages, by name."""
    return BUILT_IN | from_entry_points(importlib.metadata.entry_points(group=GROUP))


def from_entry_points(points: Iterable[importlib.metadata.EntryPoint]) -> dict[str, AdapterEntry]:
    """The platforms that entry points name; one without settings, or named like ours, is left out, logged."""
    values = {point.name: point.value for point in points}
    found = {}
    for name in sorted(name for name in values if not name.endswith(_SETTINGS)):
        if name in BUILT_IN:
            _log.warning("adapter.entry_point_ignored", platform=name, reason="the name is taken")
        elif name + _SETTINGS not in values:
            _log.warning(
                "adapter.entry_point_ignored", platform=name, reason=f"no {name}{_SETTINGS} beside it"
            )
        else:
            found[name] = AdapterEntry(adapter=values[name], settings=values[name + _SETTINGS])
    return found
