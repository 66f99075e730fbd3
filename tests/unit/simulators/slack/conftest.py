from tests.simulators.fixtures import slack_sim

__all__ = ["slack_sim"]
