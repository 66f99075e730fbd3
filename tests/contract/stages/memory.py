"""The memory platform on stage."""

from typing import Self

from adapters.memory.adapter import MemoryAdapter, Shown
from adapters.memory.settings import MemorySettings
from gateway.adapter import Adapter
from gateway.document import plain
from gateway.errors import OutcomeUnknown, RateLimited, TargetGone
from gateway.messages import MessageDeleted, MessageEdited, Target
from gateway.source import SessionSource

from .base import Ability, Place


class MemoryStage:
    abilities: frozenset[Ability] = frozenset(
        {
            "threads",
            "edits_by_people",
            "deletes_by_people",
            "reactions",
            "drafts",
            "edits",
            "rate_limit",
            "gone_chat",
            "lost_answer",
            "account",
            "connection",
            "redelivery",
            "files",
            "push_back",
        }
    )

    def __init__(self) -> None:
        self.adapter = MemoryAdapter(MemorySettings(drafts=True))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    def say(self, text: str, place: Place = "dm", *, mention: bool = False, answer: bool = False) -> None:
        self._said = self.adapter.say(text, self._source(place))

    def edit(self, text: str) -> None:
        said = self._said
        self.adapter.deliver(
            MessageEdited(id=f"{said.id}:e", message_id=said.message_id, source=said.source, text=text)
        )

    def delete(self) -> None:
        said = self._said
        self.adapter.deliver(
            MessageDeleted(id=f"{said.id}:d", message_id=said.message_id, source=said.source)
        )

    def reactions(self) -> list[str]:
        return list(self.adapter.reactions.get(self._said.message_id, ())[-1:])

    def drafts(self) -> list[str]:
        return [plain(message.body) for _, message in self.adapter.drafts]

    def press(self, label: str) -> None:
        self._pressed = self.adapter.press(self._last().tokens[label])

    async def wait_told(self) -> str:
        answer = await self._pressed
        return answer.text if answer else ""

    def target(self, place: Place) -> Target:
        return Target.of(self._source(place))

    def shown(self, place: Place = "dm") -> list[str]:
        return [shown.text for shown in self.adapter.shown if shown.message.target == self.target(place)]

    def files(self, place: Place = "dm") -> list[tuple[str, bytes, str]]:
        return [
            (shown.message.file.name, shown.message.file.data, shown.text)
            for shown in self.adapter.shown
            if shown.message.file is not None and shown.message.target == self.target(place)
        ]

    def expect_refusal(self) -> None:
        return None

    def buttons(self) -> list[str]:
        return list(self._last().tokens)

    def limit_rate(self, retry_after_s: float) -> None:
        self.adapter.fail(RateLimited(retry_after_s))

    def close_chat(self) -> None:
        self.adapter.fail(TargetGone("closed"))

    def lose_answer(self, *, file: bool = False) -> None:
        self.adapter.fail(OutcomeUnknown("the answer is lost"), shown=True)

    async def break_connection(self) -> None:
        self.adapter.drop_connection()

    def with_bad_account(self) -> tuple[Adapter, str]:
        self.adapter.refuse_account()
        return self.adapter, "there is no secret"

    def _last(self) -> Shown:
        return self.adapter.shown[-1]

    def _source(self, place: Place) -> SessionSource:
        match place:
            case "dm":
                return self.adapter.source()
            case "group":
                return self.adapter.source(chat_id="g1", kind="group")
            case "thread":
                return self.adapter.source(chat_id="g1", kind="thread", thread_id="t1")
