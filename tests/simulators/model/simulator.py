"""The simulated model service as tests hold it: a script, and all that was asked.

    async with ModelSimulator() as sim:
        sim.script(Answer(text="hi"))                            # the next request gets this
        sim.script(call_tool("echo", {"text": "x"}), when="use") # the next whose user message contains "use"
        sim.script(rate_limited(2))                              # faults stand in the same queue
        client = AsyncOpenAI(base_url=sim.base_url, api_key="any")
        ...
        assert sim.bodies[0]["messages"][-1]["content"] == "hello"
        assert sim.rejected == 0

Unscripted requests are steered by the user's own message (`steering.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from ..changes import Changes
from ..control import control_routes
from ..faults import FaultScript, Hold
from ..recorder import Recorder
from ..server import LoopbackServer, make_app
from .answers import Answer, Scripted
from .asked import Asked
from .endpoint import CHAT, Endpoint
from .errors import ModelApiError
from .steering import Steering

T = TypeVar("T")
WAIT_S = 10.0


@dataclass(slots=True, kw_only=True)
class Rule:
    """A scripted reply and the requests it is for; `times` counts down."""

    reply: Scripted
    fits: Callable[[Asked], bool]
    times: int


class ModelSimulator:
    """An OpenAI-compatible service of one's own on a loopback port.

    Attributes:
        default: Decides on unscripted requests.
        api_key: The key clients must send; None: any.
        models: The model names that exist; None: any.
        context_tokens: Longer requests get 400 context_length_exceeded (rough count); None: no limit.
        transcript: What every transcription says.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        from .remote import remote_actions

        self.changes = Changes()
        self.recorder = Recorder()
        self.faults = FaultScript()
        self.default: Callable[[Asked], Scripted] = Steering().answer
        self.api_key: str | None = None
        self.models: tuple[str, ...] | None = None
        self.context_tokens: int | None = None
        self.transcript = "a transcribed voice message"
        self._rules: list[Rule] = []
        routes = Endpoint(self).routes() + control_routes(remote_actions(self))
        self._server = LoopbackServer(make_app(routes), host, port)

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.faults.clear()
        await self._server.stop()

    @property
    def url(self) -> str:
        """The server's address."""
        return self._server.url

    @property
    def base_url(self) -> str:
        """What clients take as base URL: ends in `/v1`."""
        return self.url + "/v1"

    def script(self, *replies: Scripted, when: str | Callable[[Asked], bool] = "", times: int = 1) -> None:
        """Queue replies; the first that fits a request is used up by one.

        Args:
            replies: In the order they shall be given.
            when: Text that the newest user message contains, or a predicate on the request.
            times: How often each is given before it is spent.
        """
        fits = when if callable(when) else lambda asked: when in asked.last_user_text
        for reply in replies:
            self._rules.append(Rule(reply=reply, fits=fits, times=times))
            self._shut_gate(reply)

    def release(self, hold: str = "hold") -> None:
        """Let held replies go on."""
        self.faults.release(hold)
        self.changes.notify()

    def next_reply(self, asked: Asked) -> Scripted:
        """Use up the first rule that fits, or ask the default."""
        for rule in self._rules:
            if rule.fits(asked):
                rule.times -= 1
                if rule.times <= 0:
                    self._rules.remove(rule)
                return rule.reply
        reply = self.default(asked)
        self._shut_gate(reply)
        return reply

    def check_model(self, asked: Asked) -> None:
        """Refuse an unknown model or a request too long for it."""
        name = asked.body["model"]
        if self.models is not None and name not in self.models:
            raise ModelApiError(
                404,
                f"The model `{name}` does not exist or you do not have access to it.",
                code="model_not_found",
            )
        if self.context_tokens is not None and asked.tokens() > self.context_tokens:
            raise ModelApiError(
                400,
                f"This model's maximum context length is {self.context_tokens} tokens. However, your messages "
                f"resulted in {asked.tokens()} tokens. Please reduce the length of the messages.",
                param="messages",
                code="context_length_exceeded",
            )

    def _shut_gate(self, reply: Scripted) -> None:
        if isinstance(reply, Hold):
            self.faults.shut_gate(reply.name)
        elif isinstance(reply, Answer) and reply.hold_after is not None:
            self.faults.shut_gate(reply.hold)

    @property
    def unused(self) -> list[Scripted]:
        """Scripted replies that no request has had yet."""
        return [rule.reply for rule in self._rules]

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all chat requests, oldest first, refused ones included."""
        return [call.params for call in self.recorder.of(CHAT)]

    @property
    def rejected(self) -> int:
        """How many requests broke a rule of the API; scripted refusals do not count."""
        return sum(self.recorder.refusals.values())

    async def wait_for(self, predicate: Callable[[], T], timeout_s: float = WAIT_S) -> T:
        """Wait until the predicate is truthy and return its value.

        Looked at after each thing that happened.
        """
        return await self.changes.until(predicate, timeout_s, self.describe)

    async def wait_for_requests(self, count: int, timeout_s: float = WAIT_S) -> list[Any]:
        """Wait until at least this many chat requests came, and return their bodies."""
        return await self.wait_for(lambda: bodies if len(bodies := self.bodies) >= count else [], timeout_s)

    def describe(self) -> str:
        """The state in short, for the text of a failed wait."""
        last = [(call.status, call.error) for call in self.recorder.of(CHAT)[-5:]]
        return f"requests: {len(self.bodies)}, last {last}, unused replies: {len(self._rules)}"
