"""Configuration: one frozen `Config` from a YAML file, `.env`, environment variables and systemd credentials.

`load_config` is given the adapters' settings models and either returns a configuration that is right as a
whole or raises `ConfigError` with every problem. From the bottom: `problems`, `values`, `sections` (the
keys), `shape` (their tree), `layers`, `strict`, `yaml_file`, `environment`, `settings`, `refused`, `checks`,
`load`, `show`. Nothing here names a platform.
"""

from gateway.config.load import load_config
from gateway.config.problems import EXIT_BAD_CONFIG, ConfigError, Problem
from gateway.config.sections import (
    AccessSettings,
    AgentSettings,
    ApprovalSettings,
    ChatSettings,
    ContextSettings,
    DeliverySettings,
    LimitSettings,
    LogSettings,
    McpServerSettings,
    MemorySettings,
    ModelSettings,
    QueueSettings,
    SessionSettings,
    ShutdownSettings,
    ToolSettings,
    TurnSettings,
    WebSettings,
    is_loopback,
)
from gateway.config.settings import Account, Config
from gateway.config.show import Shown, config_schema, describe, shown, summary

__all__ = [
    "EXIT_BAD_CONFIG",
    "AccessSettings",
    "Account",
    "AgentSettings",
    "ApprovalSettings",
    "ChatSettings",
    "Config",
    "ConfigError",
    "ContextSettings",
    "DeliverySettings",
    "LimitSettings",
    "LogSettings",
    "McpServerSettings",
    "MemorySettings",
    "ModelSettings",
    "Problem",
    "QueueSettings",
    "SessionSettings",
    "Shown",
    "ShutdownSettings",
    "ToolSettings",
    "TurnSettings",
    "WebSettings",
    "config_schema",
    "describe",
    "is_loopback",
    "load_config",
    "shown",
    "summary",
]
