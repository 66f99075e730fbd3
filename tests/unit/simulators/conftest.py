from tests.simulators.fixtures import telegram_sim

__all__ = ["telegram_sim"]
