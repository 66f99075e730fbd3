from tests.simulators.fixtures import model_sim, telegram_sim

__all__ = ["model_sim", "telegram_sim"]
