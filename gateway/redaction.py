"""The one place that hides secrets: in logs, errors, cards, the console and `parley config show`.

Three nets, from sure to general: the secrets the configuration holds, wherever they appear; values under a
telling name (`authorization`, `password`, `token=…`); and texts that have the shape of a credential. What was
hidden reads `***`; what helps a reader and opens nothing stays: the scheme word (`Bearer ***`), a token's
public prefix (`sk-***`), user and host of an address.

It runs over every log line, so a text without a hit costs a few substring searches and no expression.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

MASK = "***"

SHORTEST_KNOWN = 6
"""Known secrets with fewer characters are hidden by name only: `1234` would blot out sizes and times."""

_SCHEME = r"(?:bearer|basic|digest|token|bot|apikey|negotiate)"
_NAMES = (
    "authorization",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "credential",
    "token",
    "cookie",
    "key",
)
# In texts a name counts where it ends: "token=" and "max_token:" but not "tokens:", "token_count=".
_NAME = (
    r"(?=[aApPsScCtTkK])(?:authorization|passwords?|passwd|passphrase|pwd|secret|credentials?|token|cookie"
    r"|(?:api|access|private|secret|signing)[-_]?key|(?<=[?&])key)"
)
_SECRET_NAME = re.compile(
    r"(?:.*(?:authorization|passwords?|passwd|passphrase|secrets?|credentials?|token|cookies?"
    r"|(?:api|access|private|secret|signing)key)|pwd|auth)"
)
_LITERAL = r"(?:None|null|true|false)\b"


@dataclass(frozen=True, slots=True)
class _Net:
    """One shape; group `keep` of a hit stays.

    It is tried only on texts of `shortest` characters or more that hold one of `anchors` (lower case).
    """

    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    shortest: int

    def may_catch(self, text: str, lowered: str) -> bool:
        if len(text) < self.shortest:
            return False
        for anchor in self.anchors:  # noqa: SIM110 - any() with a generator takes twice as long, on every log line
            if anchor in lowered:
                return True
        return False


def _net(anchors: tuple[str, ...], pattern: str, *, shortest: int) -> _Net:
    return _Net(anchors, re.compile(pattern, re.VERBOSE), shortest)


_NETS = (
    _net(
        ("-----begin ",),
        r"""(?P<keep>)-----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----[\s\S]*?
        (?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)""",
        shortest=27,
    ),
    # user:password@host. An unencoded @ belongs to the password, so the last one before the path counts.
    _net(("://",), r"""(?P<keep>://[^\s/:@"'<>]*:)[^\s/"'<>]+(?=@)""", shortest=6),
    # Telegram: the id before the colon is the bot's public user id (core.telegram.org/bots/api, 2026).
    _net(
        (":", "%3a"), r"(?P<keep>[0-9](?<![0-9][0-9])[0-9]{5,11}(?::|%3[Aa]))[A-Za-z0-9_-]{30,}", shortest=37
    ),
    _net(
        ("sk-", "k_live_", "xox", "xapp-", "gh", "glpat-", "hf_"),
        r"""(?<![A-Za-z0-9])
        (?P<keep>sk-|[rp]k_live_|xox[a-z]-|xapp-|gh[pousr]_|github_pat_|glpat-|hf_)[A-Za-z0-9_-]{10,}""",
        shortest=13,
    ),
    _net(
        ("akia", "asia", "aiza"), r"(?<![A-Za-z0-9])(?P<keep>AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}", shortest=16
    ),
    _net(("eyj",), r"(?P<keep>)\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", shortest=29),
    # Discord: three base64url parts, the first being the bot's id.
    _net(
        (".",),
        r"(?P<keep>)[MNO](?<![\w-][MNO])[A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        shortest=57,
    ),
    # Slack: what opens a Socket Mode connection, once.
    _net(("?ticket=",), r"(?P<keep>\?ticket=)[A-Za-z0-9-]{20,}", shortest=28),
    _net(("bearer",), r"(?P<keep>\b(?i:bearer)\s+)(?=\S*\d|\S{20})[A-Za-z0-9._~+/=-]{6,}", shortest=12),
    _net(("cookie",), r"""(?P<keep>(?i:cookie)\s*:[ \t]*)[^\s"'\\][^\r\n"'\\]*""", shortest=8),
    # "name": "value", name='value'
    _net(
        _NAMES,
        rf"""(?P<keep>(?i:{_NAME})(?:\\*["'])?\s*[:=]\s*(?P<quote>\\*["'])(?:(?i:{_SCHEME})\s+)?)
        (?!{_LITERAL})(?:(?!(?P=quote))(?:\\.|.))+""",
        shortest=6,
    ),
    # name=value, "name": value, name: value. The last is also how prose is written ("InvalidToken: The token
    # was rejected"), so there the value must look like one.
    _net(
        _NAMES,
        rf"""(?P<keep>(?i:{_NAME})
        (?:\\*["']\s*[:=]\s*|\s*=\s*|:\s*(?=(?i:{_SCHEME})\s|\S*\d|\S{{16}}))
        (?:(?i:{_SCHEME})\s+)?)
        (?!{_LITERAL}|[\\"'\[{{(])[^\s"'&,;)}}\]>\\]+""",
        shortest=5,
    ),
)

# What no shell, SQL or JSON reader takes for more than a word.
_ONE_WORD = re.compile(r"[A-Za-z0-9._~+/=%:@-]+")

# Between two characters of a known secret: a line break, real or written out by repr or JSON.
_BREAK = r"(?:\\?\r?\n[ \t]*|(?:\\r)?\\n[ ]*)"
_BREAKS = re.compile(_BREAK)
_SCHEME_START = re.compile(rf"({_SCHEME})\s+\S", re.IGNORECASE)


class Redactor:
    """Hides secrets in texts and in JSON-like values.

    Args:
        secrets: Those known from the configuration. They are also found percent-encoded, and cut in two by a
            line break. Ones shorter than `SHORTEST_KNOWN` are not looked for.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: of two secrets that begin alike, the whole of the longer one must go.
        self._known = sorted(
            {secret for secret in secrets if len(secret) >= SHORTEST_KNOWN}, key=len, reverse=True
        )
        self._known_pattern = re.compile("|".join(_known_pattern(secret) for secret in self._known))

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._known and self._holds_known(text):
            text = self._known_pattern.sub(MASK, text)
        lowered = text.lower()
        for net in _NETS:
            if net.may_catch(text, lowered):
                text = net.pattern.sub(rf"\g<keep>{MASK}", text)
        return text

    def value(self, value: Any) -> Any:
        """A copy of a JSON-like value without secrets: in its texts, and under telling names.

        Mappings, lists and tuples are walked; numbers under a telling name are hidden too; true, false and
        null stay, and what is none of these is returned as it is.
        """
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {
                    key: _hidden(inner) if isinstance(key, str) and is_secret_name(key) else self.value(inner)
                    for key, inner in value.items()
                }
            case list():
                return [self.value(inner) for inner in value]
            case tuple():
                return tuple(self.value(inner) for inner in value)
            case _:
                return value

    def for_decision(self, value: Any) -> Any:
        """A copy for a person who has to approve it: only what certainly is a secret, and nothing else, is hidden.

        Whoever decides on a command must see it. So beside known secrets only a single word without a space,
        quote or any sign that a shell or a program would read is hidden: `Bearer sk-…`, the password of an
        address. What merely stands under a telling name, or follows one, stays in sight if it could be more.
        """
        match value:
            case str():
                return self._careful(value)
            case Mapping():
                return {
                    key: (self._named if is_secret_name(str(key)) else self.for_decision)(inner)
                    for key, inner in value.items()
                }
            case list() | tuple():
                return [self.for_decision(inner) for inner in value]
            case _:
                return value

    def _named(self, value: Any) -> Any:
        if not isinstance(value, str):
            return self.for_decision(value)
        scheme = _SCHEME_START.match(value)
        word = value[scheme.end(1) :].strip() if scheme else value
        if len(word) < SHORTEST_KNOWN or not _ONE_WORD.fullmatch(word):
            return self._careful(value)
        return f"{scheme[1]} {MASK}" if scheme else MASK

    def _careful(self, text: str) -> str:
        if self._known and self._holds_known(text):
            text = self._known_pattern.sub(MASK, text)
        lowered = text.lower()
        for net in _NETS:
            if net.may_catch(text, lowered):
                text = net.pattern.sub(_hide_one_word, text)
        return text

    def _holds_known(self, text: str) -> bool:
        """Whether the expression for known secrets can match; it is slow, and nearly always cannot."""
        joined = _BREAKS.sub("", text) if "\n" in text or "\\n" in text else text
        decoded = unquote(joined) if "%" in joined else joined
        candidates = (text,) if decoded is text else (text, joined, decoded)
        return any(secret in candidate for candidate in candidates for secret in self._known)


@lru_cache(maxsize=4096)  # the keys of log lines come again and again
def is_secret_name(name: str) -> bool:
    """Whether a key, header or variable of this name holds a secret: `X-Api-Key` yes, `max_tokens` no."""
    return _SECRET_NAME.fullmatch(re.sub(r"[-_. ]", "", name).lower()) is not None


def passwords_in_addresses(text: str) -> tuple[str, ...]:
    """The passwords of addresses `scheme://user:password@host` in a text, as written and percent-decoded."""
    written = [found[1] for found in re.finditer(r"://[^\s/:@]*:([^\s/]+)@", text)]
    return tuple(dict.fromkeys(form for password in written for form in (password, unquote(password))))


def _hide_one_word(found: re.Match[str]) -> str:
    keep = found["keep"]
    return f"{keep}{MASK}" if _ONE_WORD.fullmatch(found[0][len(keep) :]) else found[0]


def _hidden(value: Any) -> Any:
    match value:
        case bool() | None:
            return value
        case str():
            scheme = _SCHEME_START.match(value)
            return f"{scheme[1]} {MASK}" if scheme else MASK if value else value
        case Mapping():
            return {key: _hidden(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_hidden(inner) for inner in value]
        case _:
            return MASK


def _known_pattern(secret: str) -> str:
    return f"{_BREAK}?".join(_character_pattern(character) for character in secret)


def _character_pattern(character: str) -> str:
    plain = re.escape(character)
    if re.fullmatch(r"[A-Za-z0-9_.~-]", character):  # RFC 3986, 2.3: never percent-encoded by a client
        return plain
    encoded = "".join(f"%{byte:02X}" for byte in character.encode())
    return rf"(?:{plain}|(?i:{encoded}))"
