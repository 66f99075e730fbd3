"""What a reader of Telegram sees of a piece: the simulator's reading of the request the adapter would make."""

from dataclasses import dataclass

from adapters.telegram.render import Entity, render
from gateway.document import Document
from tests.simulators.telegram.settle import settle
from tests.simulators.telegram.text import Entity as Sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as shown; `styled(type)` are the texts under an entity type, in order."""

    text: str
    entities: tuple[Entity, ...]

    @property
    def units(self) -> int:
        return len(self.text.encode("utf-16-le")) // 2

    def styled(self, style: str) -> list[str]:
        """Return the texts of a style: an entity type, "link URL", or "pre language"."""
        data = self.text.encode("utf-16-le")
        return [
            data[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le")
            for entity in self.entities
            if style in (entity.type, f"link {entity.url}", f"pre {entity.language}")
        ]


def show(piece: Document, limit: int) -> Shown:
    """Return a piece as shown; the platform must take it as it is, with nothing to refuse, trim or repair."""
    rendered = render(piece)
    settled = settle(rendered.text, [_sent(entity) for entity in rendered.entities], limit)
    assert settled.violations == ()
    assert settled.text == rendered.text
    assert len(settled.entities) == len(rendered.entities) <= 100
    return Shown(text=rendered.text, entities=rendered.entities)


def _sent(entity: Entity) -> Sent:
    extra = {"url": entity.url} if entity.url else {"language": entity.language} if entity.language else {}
    return Sent(type=entity.type, offset=entity.offset, length=entity.length, extra=extra)
