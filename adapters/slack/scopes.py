"""What the app should be allowed, and what it is (pure)."""

from collections.abc import Mapping

WANTED = frozenset(
    {
        "app_mentions:read",  # be mentioned
        "assistant:write",  # show that it thinks
        "channels:history",  # read public channels it is in; find what it sent there
        "channels:read",
        "chat:write",
        "commands",  # its slash command
        "files:read",
        "groups:history",  # the same in private channels
        "groups:read",
        "im:history",  # direct chats
        "im:read",
        "mpim:history",  # and those of several people
        "mpim:read",
        "users:read",  # names
    }
)


def granted_scopes(headers: Mapping[str, str]) -> frozenset[str] | None:
    """The scopes that Slack names in the header of each answer; None if it names none."""
    named = next((value for name, value in headers.items() if name.casefold() == "x-oauth-scopes"), None)
    return None if named is None else frozenset(filter(None, (scope.strip() for scope in named.split(","))))


def missing_scopes(granted: frozenset[str]) -> frozenset[str]:
    """What the app should be allowed and is not."""
    return WANTED - granted
