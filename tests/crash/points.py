"""Named moments at which the daemon is killed with SIGKILL, and what must be true after its next start.

Each point is an async function: its first line is the moment, the rest of its docstring what holds then (the table in
`docs/delivery.md` is made of these). No product code knows of them: a moment is reached by holding a request of the
daemon to a simulator, or a tool, or by waiting for what it shows.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.context.cut import MARKER
from tests.crash.places import SLOW_S, Place, held_request, place_on, sees, texts
from tests.process import DaemonProcess
from tests.simulators.faults import Hold
from tests.simulators.model import Answer, ModelSimulator

MAYBE_LOST = "A part of my last answer may not have arrived"
LATER = "I am being restarted in the middle of this"
REPEAT = "this may be a repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One daemon with its place, its model and its folder."""

    folder: Path
    place: Place
    model: ModelSimulator
    daemon: DaemonProcess

    def say(self, text: str) -> None:
        self.place.sim.say(self.place.person, text)

    async def start(self) -> None:
        served = self.daemon.printed().count("daemon.serving")
        await self.daemon.start()
        await self.daemon.wait_printed("daemon.serving", served + 1)

    async def kill_and_start(self) -> None:
        await self.daemon.kill()
        await self.start()


@asynccontextmanager
async def world_on(platform: str, folder: Path, **env: str) -> AsyncIterator[World]:
    """A world in which the daemon serves; at the end it must still stop in order."""
    async with place_on(platform) as place, ModelSimulator() as model:
        given = {
            **place.env,
            "PARLEY_AGENTS__DEFAULT__MODEL": "sim",
            "PARLEY_MODELS__SIM__PROVIDER": "openai",
            "PARLEY_MODELS__SIM__MODEL": "sim",
            "PARLEY_MODELS__SIM__BASE_URL": model.base_url,
            "PARLEY_MODELS__SIM__API_KEY": "sk-simulated",
            **env,
        }
        async with DaemonProcess(folder, given) as daemon:
            world = World(folder=folder, place=place, model=model, daemon=daemon)
            await world.start()
            yield world
            place.sim.faults.clear()
            assert await daemon.stop() == 0


Point = Callable[[str, Path], Awaitable[None]]
POINTS: dict[str, tuple[Point, tuple[str, ...]]] = {}
"""Every point by name, with the platforms it is tried on."""


def point(*platforms: str) -> Callable[[Point], Point]:
    def add(function: Point) -> Point:
        POINTS[function.__name__] = (function, platforms)
        return function

    return add


def count(world: World, words: str) -> int:
    return sum(words in text for text in texts(world.place))


@point("Telegram")
async def stored_before_it_is_confirmed(platform: str, folder: Path) -> None:
    """A message is stored, the platform has not heard so.

    It comes again and is known: one turn, one answer.
    """
    async with world_on(platform, folder) as world:
        confirming = asyncio.create_task(held_request(world.place, "getUpdates", applied=False))
        await asyncio.sleep(0)
        world.say("plum")
        await confirming
        await world.daemon.wait_printed("turn.accepted")
        await world.kill_and_start()
        await sees(world.place, "echo: plum")
        world.say("pear")
        await sees(world.place, "echo: pear")
        assert count(world, "echo: plum") + count(world, MAYBE_LOST) >= 1
        assert count(world, "echo: plum") == 1
        assert [body["messages"][-1]["content"] for body in world.model.bodies].count("plum") <= 2


@point("Telegram", "Discord", "Slack")
async def sending_before_it_has_an_effect(platform: str, folder: Path) -> None:
    """An answer's request is on its way and has had no effect.

    Discord and Slack: it is sent again, once. Telegram: it is not sent again by itself; the user is told, and /again
    shows it, marked.
    """
    async with world_on(platform, folder) as world:
        held = asyncio.create_task(held_request(world.place, world.place.send_method, applied=False))
        await asyncio.sleep(0)
        world.say("plum")
        await held
        await world.kill_and_start()
        if platform == "Telegram":
            await sees(world.place, MAYBE_LOST)
            assert count(world, "echo: plum") == 0
            world.say("/again")
            await sees(world.place, REPEAT)
        await sees(world.place, "echo: plum")
        world.say("pear")
        await sees(world.place, "echo: pear")
        assert count(world, "echo: plum") == 1
        assert count(world, MAYBE_LOST) == (1 if platform == "Telegram" else 0)


@point("Telegram", "Discord", "Slack")
async def sent_and_its_answer_is_lost(platform: str, folder: Path) -> None:
    """An answer is shown, the daemon has not heard so.

    Discord (nonce) and Slack (look-up) tell, and nothing is shown twice. Telegram cannot tell: nothing is repeated, the
    user is told that a part may be missing.
    """
    async with world_on(platform, folder) as world:
        held = asyncio.create_task(held_request(world.place, world.place.send_method, applied=True))
        await asyncio.sleep(0)
        world.say("plum")
        await held
        await sees(world.place, "echo: plum")
        await world.kill_and_start()
        if platform == "Telegram":
            await sees(world.place, MAYBE_LOST)
        world.say("pear")
        await sees(world.place, "echo: pear")
        assert count(world, "echo: plum") == 1
        assert count(world, MAYBE_LOST) == (1 if platform == "Telegram" else 0)


@point("Telegram", "Discord", "Slack")
async def the_model_is_asked(platform: str, folder: Path) -> None:
    """The model works on its response.

    It is asked again; one answer.
    """
    async with world_on(platform, folder) as world:
        world.model.script(Hold(name="thinking"), when="plum")
        world.say("plum")
        await world.model.wait_for(lambda: world.model.bodies, SLOW_S)
        await world.kill_and_start()
        await sees(world.place, "echo: plum")
        assert len(world.model.bodies) == 2
        assert count(world, "echo: plum") == 1


@point("Telegram", "Discord", "Slack")
async def in_the_middle_of_a_stream(platform: str, folder: Path) -> None:
    """A reply is half written and half shown.

    The model is asked again; what is shown in the end is the whole answer, once.
    """
    async with world_on(platform, folder) as world:
        half = tuple(f"Sentence {number} of the answer. " for number in range(20))
        world.model.script(Answer(text=half, hold_after=12), Answer(text="The whole answer."), when="plum")
        world.say("plum")
        await world.place.sim.wait_for(
            lambda: any("Sentence 3" in str(call.params) for call in world.place.sim.recorder.calls), SLOW_S
        )
        await world.kill_and_start()
        await sees(world.place, "The whole answer.")
        world.say("pear")
        await sees(world.place, "echo: pear")
        assert (count(world, "Sentence"), count(world, "The whole answer.")) == (0, 1)


@point("Telegram")
async def a_tool_runs(platform: str, folder: Path) -> None:
    """A tool that was not declared idempotent runs.

    It does not run again; the model hears that its outcome is unknown.
    """
    (folder / "config.yaml").write_text(
        "mcpServers:\n  lab:\n"
        f"    command: {sys.executable}\n    args: [-m, tests.crash.blocking_tool, {folder}]\n"
        f"    env: {{PYTHONPATH: {Path(__file__).parents[2]}}}\n"
        "approvals: {allow: [lab/*]}\n"
    )
    async with world_on(platform, folder) as world:
        world.say('call echo {"text": "plum"}')
        await world.daemon.wait_printed("turn.started")
        await _until_exists(folder / "runs.txt")
        await world.daemon.kill()
        (folder / "go").touch()
        await world.start()
        await sees(world.place, "tool said")
        assert (folder / "runs.txt").read_text() == "plum\n"
        assert "outcome is unknown" in str(world.model.bodies[-1]["messages"][-1])


@point("Telegram")
async def a_card_is_open(platform: str, folder: Path) -> None:
    """A card waits for a press.

    Its buttons work after the start; the tool runs once.
    """
    (folder / "config.yaml").write_text(
        "mcpServers:\n  lab:\n"
        f"    command: {sys.executable}\n    args: [-m, tests.crash.blocking_tool, {folder}]\n"
        f"    env: {{PYTHONPATH: {Path(__file__).parents[2]}}}\n"
    )
    (folder / "go").touch()
    async with world_on(platform, folder) as world:
        world.say('call echo {"text": "plum"}')
        await world.place.sim.wait_for(
            lambda: any(message.buttons for message in world.place.sim.replies(world.place.person)), SLOW_S
        )
        await world.daemon.kill()
        world.place.press("Once")
        await world.start()
        await sees(world.place, "tool said")
        assert (folder / "runs.txt").read_text() == "plum\n"


@point("Telegram")
async def a_task_card_is_open(platform: str, folder: Path) -> None:
    """A card waits for a press that lets another agent take over.

    Its buttons work after the start; the other agent answers, once, in the same turn.
    """
    async with world_on(platform, folder, PARLEY_AGENTS__CODER__MODEL="sim") as world:
        world.say('call task_begin {"agent": "coder", "goal": "plum"}')
        await world.place.sim.wait_for(
            lambda: any(message.buttons for message in world.place.sim.replies(world.place.person)), SLOW_S
        )
        await world.daemon.kill()
        world.place.press("Accept")
        await world.start()
        await sees(world.place, "plum")
        world.say("pear")
        await sees(world.place, "echo: pear")
        assert count(world, "echo: (The agent default hands you this task.") == 1


@point("Telegram")
async def while_it_stops(platform: str, folder: Path) -> None:
    """The daemon was asked to stop and waits for a running turn.

    The turn goes on after the start; what came meanwhile is answered, in order.
    """
    async with world_on(platform, folder) as world:
        world.model.script(Hold(name="thinking"), when="plum")
        world.say("plum")
        await world.model.wait_for(lambda: world.model.bodies, SLOW_S)
        stopping = asyncio.create_task(world.daemon.stop())
        await world.daemon.wait_printed("daemon.stopping")
        world.say("pear")
        await world.daemon.wait_printed("turn.accepted", 2)
        await world.daemon.kill()
        await stopping
        await world.start()
        await sees(world.place, "echo: pear")
        shown = [text for text in texts(world.place) if text.startswith("echo")]
        assert shown == ["echo: plum", "echo: pear"]
        assert count(world, LATER) == 0


@point("Telegram")
async def a_summary_is_written(platform: str, folder: Path) -> None:
    """A long conversation is being compressed.

    It is as if that had not begun: nothing is lost, the summary is asked for anew; one answer.
    """
    small = {"PARLEY_MODELS__SIM__CONTEXT_WINDOW": "6000", "PARLEY_CONTEXT__PROTECT_LAST": "2"}
    async with world_on(platform, folder, **small) as world:
        in_short = Answer(text="They named fruit.")
        world.model.script(Hold(name="writing"), when="<transcript>")
        world.model.script(in_short, when="<transcript>", times=9)
        number = 0
        while not _transcripts(world):
            number += 1
            world.say(f"plum{number} " + "and more " * 150)
            await world.place.sim.wait_for(  # what it shows, also that it types, is looked at
                lambda n=number: _transcripts(world) or count(world, f"echo: plum{n} "), SLOW_S
            )
        await world.kill_and_start()
        await sees(world.place, f"echo: plum{number} ")
        assert count(world, f"echo: plum{number} ") == 1
        assert len(_transcripts(world)) == 2
        assert "plum1 " in str(world.model.bodies[-1]["messages"])
        assert MARKER in str(world.model.bodies[-1]["messages"])


def _transcripts(world: World) -> list[object]:
    return [body for body in world.model.bodies if "<transcript>" in str(body["messages"][-1])]


async def _until_exists(path: Path) -> None:
    async with asyncio.timeout(SLOW_S):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - a file tells nobody that it is there
            await asyncio.sleep(0.02)
