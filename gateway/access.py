"""Who may do what: one answer for messages, edits, buttons and commands. Deny is the default.

Entries name ids, never names: `123` a user, `chat:-100…` a chat that admits its members, `*` everybody. In a
direct chat the person must be listed, anywhere else the chat: a listed person in an unlisted group is ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gateway.source import SessionSource

Role = Literal["admin", "user"]
Action = Literal["message", "edit", "press", "command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLists:
    """One platform's lists, as configured."""

    allow: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()


class Access:
    """Decides from the lists alone; `operators` are platforms whose users own this machine (a terminal).

    Named `approvers` (platform:user) may press buttons wherever a card is shown to them, and nothing else by that.
    """

    def __init__(
        self,
        lists: Mapping[str, AccessLists],
        *,
        operators: frozenset[str] = frozenset(),
        approvers: frozenset[str] = frozenset(),
    ) -> None:
        self._lists = lists
        self._operators = operators
        self._approvers = approvers
        self._paired: set[tuple[str, str, str]] = set()

    def admit(self, platform: str, account: str, user_id: str) -> None:
        """Let a person who was paired write directly to this account from now on."""
        self._paired.add((platform, account, user_id))

    def dismiss(self, platform: str, user_id: str) -> None:
        """Let a person in by pairing no more, with whatever account."""
        self._paired = {each for each in self._paired if (each[0], each[2]) != (platform, user_id)}

    def authorize(self, actor: SessionSource, action: Action) -> Role | None:
        """The role in which `actor` may do this here, or None.

        All actions ask the same of a stranger; what a role may do beyond that its own place decides.
        """
        if actor.platform in self._operators:
            return "admin"
        lists = self._lists.get(actor.platform, AccessLists())
        if actor.user_id in lists.admins:
            return "admin"
        if "*" in lists.allow:
            return "user"
        if action == "press" and actor.requester in self._approvers:
            return "user"
        if actor.kind == "dm" and (actor.platform, actor.account, actor.user_id) in self._paired:
            return "user"
        listed = actor.user_id if actor.kind == "dm" else f"chat:{actor.chat_id}"
        return "user" if listed in lists.allow else None

    def is_admin(self, person: str) -> bool:
        """Whether `platform:user` is an admin, wherever they are."""
        platform, _, user_id = person.partition(":")
        return platform in self._operators or user_id in self._lists.get(platform, AccessLists()).admins
