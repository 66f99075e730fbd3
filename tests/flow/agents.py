"""Several agents in one house, and what they say to hand a conversation on."""

import asyncio
from typing import Any

from adapters.memory.adapter import Shown
from tests.flow.house import WAIT_S, House, Person
from tests.flow.scripted import calls, says

AGENTS: dict[str, dict[str, Any]] = {
    name: {"model": "scripted", "instructions": f"You are the {name}."}
    for name in ("default", "coder", "critic", "tester")
}

Wanted = tuple[str, dict[str, Any]]


def begin(agent: str, goal: str = "Do it.") -> Wanted:
    return ("task_begin", {"agent": agent, "goal": goal})


def end(summary: str = "Done.") -> Wanted:
    return ("task_end", {"summary": summary})


def count(n: int = 1) -> Wanted:
    return ("lab__count", {"n": n})


def who(house: House) -> list[str]:
    """Who was asked for each of the model's responses, in order."""
    return [asked.system.split("Your name is ")[1].split(".")[0] for asked in house.model.asked]


async def asked(person: Person, question: str) -> Shown:
    """Wait for a card with live buttons that asks this."""
    found: list[Shown] = []

    def is_there() -> bool:
        found[:] = [each for each in person.platform.shown if question in each.text and each.tokens]
        return bool(found)

    async with asyncio.timeout(WAIT_S):
        await person.platform.wait_until(is_there)
    return found[-1]


async def answers(person: Person, question: str, label: str) -> str:
    """Press a button on the newest open card that asks this; what the presser is told."""
    return (await person.presses(label, await asked(person, question))).text


async def depth(house: House) -> list[str]:
    """The agents of the open tasks, innermost last."""
    return await house.values("SELECT agent FROM tasks WHERE state = 'open' ORDER BY seq")


async def stacked(house: House, person: Person, *agents: str) -> None:
    """Let each agent hand a task to the next; all are accepted, nothing is said to end."""
    house.model.then(calls(begin(agents[0], f"goal of {agents[0]}")))
    person.says("begin")
    for inner, agent in zip(agents, (*agents[1:], None), strict=True):
        house.model.then(
            calls(begin(agent, f"goal of {agent}")) if agent is not None else says(f"{inner} at work")
        )
        await answers(person, f"Shall {inner} take over?", "Accept")
    await person.gets(f"{agents[-1]} at work")
    await house.quiet()
