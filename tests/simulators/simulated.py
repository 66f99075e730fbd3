"""What the simulators of all platforms have in common: where they are, what shall go wrong, what happened."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

from .changes import Changes
from .faults import Drop, Fault, FaultScript, Plan, Refuse
from .recorder import Call, Recorder
from .server import LoopbackServer

T = TypeVar("T")
WAIT_S = 10.0
SENDS = "(the method that sends a message)"


class SimulatedPlatform:
    """The part of a simulator that knows no platform.

    A simulator says which method `sends` a message (what a fault meets unless another is named), what id a place
    goes by in the faults' plans, and what bots show in one.
    """

    sends: ClassVar[str]
    account: Any
    _server: LoopbackServer

    def __init__(self) -> None:
        self.changes = Changes()
        self.recorder = Recorder()
        self.faults = FaultScript()

    # Where it is, and whose it is.

    @property
    def url(self) -> str:
        """The server's address."""
        return self._server.url

    @property
    def token(self) -> str:
        """The first bot's token."""
        return str(self.account.token)

    @property
    def bot_id(self) -> Any:
        """The first bot's user id."""
        return self.account.user.id

    async def interrupt(self, meanwhile: Callable[[], Awaitable[None]] | None = None) -> None:
        """Stop listening and listen again on the same port: every connection is lost, no state is.

        Args:
            meanwhile: Awaited while the server is down.
        """
        await self._server.stop()
        if meanwhile is not None:
            await meanwhile()
        await self._server.start()

    # What goes wrong.

    def fail(self, fault: Fault, method: str | None = SENDS, chat: Any = None, times: int = 1) -> Plan:
        """Let the next `times` requests of this method (None: any) to this chat (None: any) meet a fault."""
        name = self.sends if method == SENDS else method
        return self.faults.add(
            fault, method=name, chat=None if chat is None else self.place_id(chat), times=times
        )

    def flood(
        self, chat: Any = None, retry_after_s: float = 1, times: int = 1, method: str | None = SENDS
    ) -> Plan:
        """Answer the next requests with 429."""
        return self.fail(Refuse(status=429, retry_after_s=retry_after_s), method, chat, times)

    def lose_answer(self, chat: Any = None, times: int = 1, method: str | None = SENDS) -> Plan:
        """Apply the next requests and cut the connection instead of answering."""
        return self.fail(Drop(applied=True), method, chat, times)

    # What happened.

    @property
    def refusals(self) -> Counter[str]:
        """How often each rule of the platform was broken and refused; scripted refusals do not count."""
        return self.recorder.refusals

    @property
    def violations(self) -> Counter[str]:
        """How often the platform would have repaired or ignored something without telling."""
        return self.recorder.violations

    def calls(self, method: str) -> list[Call]:
        """The requests for a method, oldest first."""
        return self.recorder.of(method)

    async def wait_for(self, predicate: Callable[[], T], timeout_s: float = WAIT_S) -> T:
        """Wait until the predicate is truthy and return its value; looked at after everything that happens."""
        return await self.changes.until(predicate, timeout_s, self.describe)

    async def wait_for_replies(self, where: Any, count: int, timeout_s: float = WAIT_S) -> list[Any]:
        """Wait until bots have at least this many messages in a place, and return them."""
        return await self.wait_for(
            lambda: replies if len(replies := self.replies(where)) >= count else [], timeout_s
        )

    def describe(self) -> str:
        """The state in short, for the text of a failed wait."""
        lines = [f"calls: {self.recorder.counts()}", *self.details()]
        if self.refusals:
            lines.append(f"refusals: {dict(self.refusals)}")
        for place, shown in self.newest():
            lines += [f"{place}: {shown}"] if shown else []
        return "\n".join(lines)

    # What a simulator says of its platform.

    def place_id(self, where: Any) -> Any:
        """The id by which the requests name this place."""
        raise NotImplementedError

    def replies(self, where: Any) -> list[Any]:
        """The messages of bots now shown in a place."""
        raise NotImplementedError

    def details(self) -> list[str]:
        """More for `describe`."""
        return []

    def newest(self) -> list[tuple[str, list[str]]]:
        """Each place, and the last messages there in short."""
        raise NotImplementedError


def in_short(author: str, text: str) -> str:
    """A message for `newest`."""
    return f"{author}: {text[:60]!r}"
