from tests.simulators.fixtures import discord_sim

__all__ = ["discord_sim"]
