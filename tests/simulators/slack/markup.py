"""Slack's own markup (mrkdwn) as its clients read it: what is seen, and who is notified.

Rules: https://docs.slack.dev/messaging/formatting-message-text (2026). `&`, `<` and `>` are control characters
and are written as entities; `<…>` is a link, a mention or a date, whatever `mrkdwn` says.
"""

import re

_TOKEN = re.compile(r"<([^<>\n]+)>")
_CODE = re.compile(r"```(.*?)```|`([^`\n]+)`", re.DOTALL)
_STYLE = re.compile(r"(?<![\w*_~])([*_~])(?=\S)(.+?)(?<=\S)\1(?![\w*_~])")
_BARE = re.compile(r"&(?!(?:amp|lt|gt);)")
_PING = re.compile(r"<(?:!(channel|here|everyone)|!subteam\^(S\w+)|@([UW]\w+))(?:\|[^<>]*)?>")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
_ENTITY = re.compile("|".join(_ENTITIES))

EMOJI = {
    "👋": "wave",
    "👍": "+1",
    "🎉": "tada",
    "😀": "grinning",
    "👩‍👩‍👧": "woman-woman-girl",
    "🚀": "rocket",
}
"""Emoji which the simulated client turns into `:name:` in `text`, as Slack's clients do with all of them."""


def escape(text: str) -> str:
    """Write text so that it is read as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Undo `escape`."""
    return _ENTITY.sub(lambda match: _ENTITIES[match[0]], text)


def normalize(text: str) -> str:
    """What Slack keeps of a posted text: a bare ampersand or bracket becomes an entity, tokens stay."""
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts += [_stray(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, _stray(text[end:])])


def _stray(text: str) -> str:
    return _BARE.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def visible(text: str, *, styled: bool = True) -> str:
    """What a reader sees; `styled` False: `mrkdwn` was off, so that styles are not read, tokens still are."""
    if not styled:
        return unescape(_TOKEN.sub(_seen, text))
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [_styled(text[end : match.start()]), unescape(match[1] if match[2] is None else match[2])]
        end = match.end()
    return "".join([*parts, _styled(text[end:])])


def _styled(text: str) -> str:
    while (plainer := _STYLE.sub(r"\2", text)) != text:
        text = plainer
    text = re.sub(r"(?m)^&gt; ?", "", text)
    return unescape(_TOKEN.sub(_seen, text))


def _seen(match: re.Match[str]) -> str:
    target, _, label = match[1].partition("|")
    match target[0]:
        case "@" | "#":
            return target[0] + (label or target[1:])
        case "!":
            word = target[1:]
            return label or ("@" + word if word in {"channel", "here", "everyone"} else word)
        case _:
            return label or target.removeprefix("mailto:")


def pings(text: str) -> tuple[str, ...]:
    """Who a text notifies: user and group ids, and the words channel, here, everyone."""
    if "<" not in text:
        return ()
    found = _PING.findall(_CODE.sub("", text))
    return tuple(dict.fromkeys(word or group or user for word, group, user in found))


def typed(text: str) -> tuple[str, list[dict[str, object]]]:
    """What a client makes of typed text: `text` with entities and emoji names, and those emoji as elements."""
    elements: list[dict[str, object]] = []
    text = escape(text)
    for emoji, name in EMOJI.items():
        if emoji in text:
            text = text.replace(emoji, f":{name}:")
            code = "-".join(f"{ord(character):x}" for character in emoji)
            elements.append({"type": "emoji", "name": name, "unicode": code})
    return text, elements
