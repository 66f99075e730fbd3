"""Which adapters there are, which are connected, and what each can show."""

from gateway.adapter import Adapter, Capabilities
from gateway.document import plain
from gateway.messages import Target

# What is assumed of a platform whose adapter is not configured any more: its messages wait in the outbox.
_UNKNOWN_PLATFORM = Capabilities(measure=lambda piece: len(plain(piece)), limit=2_000, edit_limit=2_000)


class Platforms:
    """The adapters there are, and those whose account is connected."""

    def __init__(self) -> None:
        self._known: list[Adapter] = []
        self._online: dict[tuple[str, str], Adapter] = {}

    def add(self, adapter: Adapter) -> None:
        """Know an adapter, before it is connected."""
        self._known.append(adapter)

    def remove(self, adapter: Adapter) -> None:
        """Forget an adapter that is no more."""
        self._known.remove(adapter)
        if self._online.get((adapter.platform, adapter.account)) is adapter:
            del self._online[adapter.platform, adapter.account]

    def connected(self, adapter: Adapter) -> None:
        """Its account is known by now."""
        self._online[adapter.platform, adapter.account] = adapter

    def online(self, target: Target) -> Adapter | None:
        """The adapter that can send to a target; None as long as none was connected."""
        return self._online.get((target.platform, target.account))

    def place(self, chat: str) -> Target | None:
        """A chat named `platform:chat id`, as the platform's first connected account reaches it."""
        platform, _, chat_id = chat.partition(":")
        account = next((account for name, account in self._online if name == platform), None)
        return None if account is None else Target(platform=platform, account=account, chat_id=chat_id)

    def capabilities(self, target: Target) -> Capabilities:
        """What the platform of a target can show."""
        adapter = self.online(target)
        if adapter is None:
            adapter = next((known for known in self._known if known.platform == target.platform), None)
        return adapter.capabilities if adapter else _UNKNOWN_PLATFORM
