"""What opened a turn, as the `turns.input` column holds it: one message, or several that belong together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gateway.filenames import safe_name
from gateway.messages import Attachment


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file that came with a message: `text` is what was read of it, `fault` why nothing was ("" if that is plain).

    Both are None until somebody has looked: what was read is kept, so that a turn that goes on reads the same.
    """

    file: Attachment
    text: str | None = None
    fault: str | None = None

    @property
    def name(self) -> str:
        """What it is called, on one line."""
        return safe_name(self.file.name, otherwise=self.file.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One message of an input; `joint` stands between it and what was said before, if anything was."""

    message_id: str
    text: str
    attachments: tuple[Given, ...] = ()
    sent_at_ms: int = 0
    joint: str = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInputRow:
    """The words that opened a turn, who said them, and how the model is to hear them.

    `text` and `attachments` are those of all `parts` together. `sent_at_ms` is the first message's. `shared`:
    several people speak in this session. `quote`: the reply should point at the message.
    """

    text: str
    speaker: str = ""
    shared: bool = False
    attachments: tuple[Given, ...] = ()
    sent_at_ms: int = 0
    quote: bool = False
    parts: tuple[Part, ...] = ()

    def with_parts(self, parts: Sequence[Part]) -> "TurnInputRow":
        """The same turn, opened by these messages."""
        return replace(
            self,
            parts=tuple(parts),
            text=_joined(parts),
            attachments=tuple(given for part in parts for given in part.attachments),
        )

    def with_read(self, seen: Mapping[str, Given]) -> "TurnInputRow":
        """The same, with what was found out about files, by their platform's handle."""

        def known(attachments: tuple[Given, ...]) -> tuple[Given, ...]:
            return tuple(seen.get(given.file.ref, given) for given in attachments)

        if not self.parts:
            return replace(self, attachments=known(self.attachments))
        return self.with_parts([replace(part, attachments=known(part.attachments)) for part in self.parts])

    def to_json(self) -> str:
        """As the column holds it; a text that parts make up is not kept twice."""
        return json.dumps(
            {
                "text": "" if self.parts else self.text,
                "speaker": self.speaker,
                "shared": self.shared,
                "attachments": [] if self.parts else [asdict(given) for given in self.attachments],
                "sent_at": self.sent_at_ms,
                "quote": self.quote,
                "parts": [
                    [p.message_id, p.text, [asdict(given) for given in p.attachments], p.sent_at_ms, p.joint]
                    for p in self.parts
                ],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> "TurnInputRow":
        """Back from the column."""
        raw = json.loads(text)
        bare = cls(
            text=raw["text"],
            speaker=raw["speaker"],
            shared=raw["shared"],
            attachments=_given(raw["attachments"]),
            sent_at_ms=raw["sent_at"],
            quote=raw["quote"],
        )
        parts = [
            Part(message_id=message_id, text=said, attachments=_given(files), sent_at_ms=sent_at, joint=joint)
            for message_id, said, files, sent_at, joint in raw.get("parts", ())
        ]
        return bare.with_parts(parts) if parts else bare


def _given(raw: Sequence[Mapping[str, Any]]) -> tuple[Given, ...]:
    return tuple(Given(**{**each, "file": Attachment(**each["file"])}) for each in raw)


def _joined(parts: Sequence[Part]) -> str:
    text = ""
    for part in parts:
        if part.text:
            text += (part.joint if text else "") + part.text
    return text
