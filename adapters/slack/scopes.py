"""What the app should be allowed, and what it is (pure)."""

from collections.abc import Mapping

NEEDED = "chat:write"
"""Without this one nothing works."""

_FIND = "messages cannot be read, nor a message found that may have been sent"

WANTED: Mapping[str, str] = {
    "app_mentions:read": "it does not hear that it is mentioned",
    "assistant:write": "it cannot show that it thinks",
    "channels:history": f"of public channels, {_FIND}",
    "channels:read": "public channels stay unknown to it",
    NEEDED: "it can answer nothing",
    "commands": "its slash command does not reach it",
    "files:read": "files cannot be read",
    "files:write": "files cannot be sent",
    "groups:history": f"of private channels, {_FIND}",
    "groups:read": "private channels stay unknown to it",
    "im:history": f"of direct chats, {_FIND}",
    "im:read": "direct chats stay unknown to it",
    "mpim:history": f"of chats of several people, {_FIND}",
    "mpim:read": "chats of several people stay unknown to it",
    "users:read": "people have no names",
}
"""Each scope the app should have, with what is amiss without it."""


def granted_scopes(headers: Mapping[str, str]) -> frozenset[str] | None:
    """The scopes that Slack names in the header of each answer; None if it names none."""
    named = next((value for name, value in headers.items() if name.casefold() == "x-oauth-scopes"), None)
    return None if named is None else frozenset(filter(None, (scope.strip() for scope in named.split(","))))


def missing_scopes(granted: frozenset[str]) -> frozenset[str]:
    """What the app should be allowed and is not."""
    return frozenset(WANTED.keys() - granted)
