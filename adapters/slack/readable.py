"""Slack's markup in what people write, as a reader sees it (pure).

Rules: https://docs.slack.dev/messaging/formatting-message-text (2026): `&`, `<` and `>` come as entities, and
links, mentions, channels and dates as `<…>`. Emoji come as `:name:`; which character that was, the message's
rich text block says.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]

_TOKEN = re.compile(r"<([@#!][^\s<>][^<>\n]*|[A-Za-z][\w+.-]*:[^<>\n]+)>")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_USER = re.compile(r"<@([UW]\w+)(?:\|[^<>]*)?>")
_CHANNEL = re.compile(r"<#([CG]\w+)\|?>")  # one with a label needs no look-up
_SCHEME = re.compile(r"(?:https?://|mailto:|tel:)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What ids are called: people and channels."""

    users: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)


def readable(text: str, names: Names, emoji: Mapping[str, str] | None = None) -> str:
    """The text without markup for links and mentions: `@Ada`, `#general`, `label (address)`.

    `emoji` maps the names that occur in it to their characters, as `emoji_in` finds them.
    """
    for name, character in (emoji or {}).items():
        text = text.replace(f":{name}:", character)
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts += [_plain(text[end : match.start()]), _seen(match[1], names)]
        end = match.end()
    return "".join([*parts, _plain(text[end:])])


def escape(text: str) -> str:
    """Write text so that Slack shows it as it is: neither markup nor a mention."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mentioned_users(text: str) -> frozenset[str]:
    """The ids of the people named in a text."""
    return frozenset(_USER.findall(text)) if "<@" in text else frozenset()


def mentioned_channels(text: str) -> frozenset[str]:
    """The ids of the channels named in a text whose names it does not say."""
    return frozenset(_CHANNEL.findall(text)) if "<#" in text else frozenset()


def without_address(text: str, bot_id: str) -> str:
    """The text without a leading mention of the bot, unless nothing else is said."""
    rest = re.sub(rf"\A\s*<@{re.escape(bot_id)}(?:\|[^<>]*)?>[\s,:]*", "", text, count=1)
    return rest or text


def emoji_in(blocks: Any) -> dict[str, str]:
    """The emoji of a message's rich text, by the name that stands for them in its text."""
    found = {}
    for element in _elements(blocks):
        if element.get("type") == "emoji" and element.get("unicode"):
            tone = element.get("skin_tone")
            name = f"{element['name']}::skin-tone-{tone}" if tone else element["name"]
            found[str(name)] = "".join(chr(int(code, 16)) for code in element["unicode"].split("-"))
    # Longer names first: `wave::skin-tone-3` before `wave`.
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _elements(value: Any) -> Iterator[Json]:
    if isinstance(value, list):
        for inner in value:
            yield from _elements(inner)
    elif isinstance(value, dict):
        yield value
        yield from _elements(value.get("elements"))


def _plain(text: str) -> str:
    return _ENTITY.sub(lambda match: _ENTITIES[match[1]], text) if "&" in text else text


def _seen(token: str, names: Names) -> str:
    target, _, label = token.partition("|")
    label = _plain(label)
    match target[0]:
        case "@":
            return "@" + (names.users.get(target[1:]) or label or target[1:])
        case "#":
            return "#" + (label or names.channels.get(target[1:]) or target[1:])
        case "!":
            return _special(target[1:], label)
        case _:
            return _link(_plain(target), label)


def _special(word: str, label: str) -> str:
    if word in {"channel", "here", "everyone"}:
        return "@" + word
    return label or "@" + word.removeprefix("subteam^").partition("^")[0]


def _link(address: str, label: str) -> str:
    bare = _SCHEME.sub("", address, count=1)
    if not label or label in {address, bare, bare.rstrip("/")}:
        return bare if address.startswith(("mailto:", "tel:")) else address
    return f"{label} ({address})"
