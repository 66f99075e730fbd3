from tests.simulators.fixtures import model_sim, slack_sim, telegram_sim

__all__ = ["model_sim", "slack_sim", "telegram_sim"]
