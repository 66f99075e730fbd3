"""What a chat that moved was called before: the configuration goes on to speak of it by that id.

Access lists and per-chat settings name chats by their ids; a group that becomes a supergroup must neither lose its
leave to speak nor its settings until somebody edits a file. Settings for the new id, once there, are the stronger.
"""

from dataclasses import replace

from gateway.messages import Target
from gateway.source import SessionSource
from gateway.store import moves
from gateway.store.tx import Store


class FormerIds:
    """Learnt from the store at the start, and from each move."""

    def __init__(self) -> None:
        self._former: dict[tuple[str, str, str], str] = {}

    async def load(self, database: Store) -> None:
        """Learn the moves of earlier runs."""
        for old, new_id in await database.read(moves.moved):
            self.moved(old, new_id)

    def moved(self, old: Target, new_id: str) -> None:
        """A chat goes by `new_id` from now on."""
        self._former[old.platform, old.account, new_id] = old.chat_id

    def first(self, source: SessionSource) -> SessionSource:
        """The source under the first id its chat was known by; itself if the chat never moved."""
        chat_id = source.chat_id
        for _ in range(_MOST_MOVES):
            former = self._former.get((source.platform, source.account, chat_id))
            if former is None:
                break
            chat_id = former
        return source if chat_id == source.chat_id else replace(source, chat_id=chat_id)


_MOST_MOVES = 8
