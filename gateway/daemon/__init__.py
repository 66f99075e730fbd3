"""The daemon: `settings` reads the configuration for each part, `life` puts the parts together and runs them."""

from gateway.daemon.life import EXIT_OK, EXIT_RESTART, AdapterFactory, Plan, run_daemon
from gateway.daemon.models import look_at_model_services
from gateway.daemon.tool_servers import look_at_memory, look_at_tool_servers

__all__ = [
    "EXIT_OK",
    "EXIT_RESTART",
    "AdapterFactory",
    "Plan",
    "look_at_memory",
    "look_at_model_services",
    "look_at_tool_servers",
    "run_daemon",
]
