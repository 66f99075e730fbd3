"""Reading a request's text or caption: parse mode or entities, then what the server makes of it."""

from typing import Any

from .errors import bad_request
from .html_mode import parse_html
from .markdown_v2 import parse_markdown_v2
from .params import Params
from .settle import settle
from .text import CAPTION_LIMIT_UNITS, TEXT_LIMIT_UNITS, Entity, FormattedText
from .world import World

_KINDS = """
bold italic underline strikethrough spoiler blockquote expandable_blockquote code pre text_link text_mention
custom_emoji
"""
KINDS = frozenset(_KINDS.split())
_FOUND = "mention hashtag cashtag bot_command url email phone_number bank_card_number date_time"
FOUND_BY_SERVER = frozenset(_FOUND.split())
"""What a bot may put into `entities` without effect: the server finds these itself."""
SOURCE_LIMIT_BYTES = 1 << 15


def read_text(world: World, params: Params) -> FormattedText:
    """The text of sendMessage and editMessageText as it will be shown; repairs are counted as violations.

    Raises:
        ApiError: 400 as the server words it.
    """
    text = params.text("text")
    if not text:
        raise bad_request("message text is empty")
    return _read(world, params, text, "entities", TEXT_LIMIT_UNITS)


def read_caption(world: World, params: Params) -> FormattedText:
    """The caption of a file, which may be empty."""
    return _read(world, params, params.text("caption"), "caption_entities", CAPTION_LIMIT_UNITS)


def _read(world: World, params: Params, text: str, name: str, limit_units: int) -> FormattedText:
    if len(text.encode(errors="replace")) > SOURCE_LIMIT_BYTES:
        raise bad_request("text is too long")
    mode = params.text("parse_mode").lower()
    if text and mode and mode != "none":
        text, entities = _parse(text, mode)
    else:
        entities = [entity for value in params.json(name) or [] if (entity := _read_entity(value))]
    is_caption = limit_units == CAPTION_LIMIT_UNITS
    shown = settle(text, entities, limit_units, may_be_empty=is_caption)
    for violation in shown.violations:
        world.recorder.violations[violation] += 1
    return shown


def _parse(text: str, mode: str) -> tuple[str, list[Entity]]:
    match mode:
        case "markdownv2":
            return parse_markdown_v2(text)
        case "html":
            return parse_html(text)
        case _:
            raise bad_request("unsupported parse_mode")


def _read_entity(value: Any) -> Entity | None:
    """One of the request's entities; None for a kind that only the server itself may set."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise bad_request('can\'t parse MessageEntity: Field "type" must be of type String')
    kind = value["type"]
    if kind in FOUND_BY_SERVER:
        return None
    if kind not in KINDS:
        raise bad_request("can't parse MessageEntity: unsupported type specified")
    extra = {key: value[key] for key in _fields(kind) if key in value}
    if kind == "text_link" and not extra.get("url"):
        return None  # the server drops links without a usable address
    if kind == "custom_emoji" and not str(extra.get("custom_emoji_id", "")).isdigit():
        raise bad_request("invalid custom emoji identifier specified")
    try:
        return Entity(type=kind, offset=int(value["offset"]), length=int(value["length"]), extra=extra)
    except (KeyError, ValueError, TypeError):
        raise bad_request('can\'t parse MessageEntity: Field "offset" must be of type Number') from None


def _fields(kind: str) -> tuple[str, ...]:
    match kind:
        case "text_link":
            return ("url",)
        case "text_mention":
            return ("user",)
        case "pre":
            return ("language",)
        case "custom_emoji":
            return ("custom_emoji_id",)
        case _:
            return ()
