"""The daemon: `settings` reads the configuration for each part, `life` puts the parts together and runs them."""

from gateway.daemon.life import EXIT_OK, EXIT_RESTART, AdapterFactory, Plan, run_daemon

__all__ = ["EXIT_OK", "EXIT_RESTART", "AdapterFactory", "Plan", "run_daemon"]
