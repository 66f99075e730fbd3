"""Which values of a configuration are secrets: what the redactor must know of."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import SecretStr

from gateway.redaction import is_secret_name, passwords_in_addresses

# The environment of a tool server is secret as a whole, but hiding PATH or MODE=production in every log line
# would help nobody: a plain word, number, path or time zone counts only under a telling name.
_PLAIN = re.compile(r"[A-Za-z]+|[0-9.]+|[A-Z][a-z]+/[A-Za-z_]+|[.~]?/[^?=&]*")


def known_secrets(values: Mapping[str, Any], substituted: Mapping[str, str]) -> tuple[str, ...]:
    """Every secret in force, longest first.

    Args:
        values: The dump of a configuration, secrets still wrapped in `SecretStr`.
        substituted: The variables that were filled in for `${NAME}`; one with a telling name is a secret even
            in a plain field, such as a server's arguments.
    """
    found = {
        secret
        for path, secret in secrets_in(values)
        if "env" not in path[:-1] or _is_telling(path[-1]) or not _PLAIN.fullmatch(secret)
    }
    found |= {value for name, value in substituted.items() if _is_telling(name)}
    found |= {password for text in _texts_in(values) for password in passwords_in_addresses(text)}
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _is_telling(name: str) -> bool:
    # A variable may be called just SOMETHING_KEY; in log lines and JSON such a name is too common to hide.
    return is_secret_name(name) or name.lower().endswith("key")


def secrets_in(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every secret that is set below `value`, with the keys that lead to it."""
    match value:
        case SecretStr():
            if text := value.get_secret_value():
                yield path, text
        case dict():
            for key, inner in value.items():
                yield from secrets_in(inner, (*path, str(key)))
        case list() | tuple():
            for inner in value:
                yield from secrets_in(inner, path)
        case _:
            return


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts_in(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts_in(inner)
        case _:
            return
