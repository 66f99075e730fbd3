"""Secrets out of texts that are written down: known values, and what looks like a key anywhere (pure)."""

import re
from collections.abc import Iterable

_MASK = "***"
_SHORTEST_VALUE = 4  # masking "1" or "no" wherever it occurs would only garble the text
_LOOKS_SECRET = re.compile(
    r"(?i)\b(?:sk|pk|rk|ghp|gho|xox[abprs]|xapp)[-_][A-Za-z0-9_-]{8,}"
    r"|(?<=bearer )\S+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?<=\bkey=)[^&\s\"']+|(?<=\btoken=)[^&\s\"']+|(?<=\bapi_key=)[^&\s\"']+|(?<=\bpassword=)[^&\s\"']+"
    r"|(?<!\d)\d{6,12}:[A-Za-z0-9_-]{30,}"
)


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every known secret and everything that looks like one replaced by `***`."""
    for secret in sorted({s for s in secrets if len(s) >= _SHORTEST_VALUE}, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return _LOOKS_SECRET.sub(_MASK, text)
