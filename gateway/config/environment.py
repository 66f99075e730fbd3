"""Settings given as text: variables `PARLEY_SECTION__KEY`, the same in a `.env` file, systemd credentials.

The rules, in one place:
- Two underscores separate the parts; fixed keys are found without regard to case.
- A key that is the user's own (the name of a model, agent, MCP server …) is taken as the file or the
  defaults spell it, without regard to case and with `_` for any character a variable cannot have: GPT_4 is
  gpt-4. A new one is taken in lower case if the variable has it in capitals only, else as written; in
  mappings of plain values (`env`, `headers`, `users`) a new one is always taken as written.
- An empty variable counts as not set. `null` is none. Lists: commas, or JSON. Mappings: JSON.
- A credential is a file in $CREDENTIALS_DIRECTORY named like the variable (PARLEY_WEB__TOKEN) or like the
  key (web.token); other files there are not ours. One line end at its end is dropped.
- Strongest first: environment, `.env`, credentials, the file, what is built in.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from dotenv.parser import parse_stream

from gateway.config.layers import Layer, is_list_at, keys_at
from gateway.config.problems import Problem, nearest
from gateway.config.shape import Accounts, Keys, Leaf, MapOf, Path, Shape, dotted, key_paths, step
from gateway.config.strict import fixed_keys, from_text, unknown_key

PREFIX = "PARLEY_"
CONFIG_VARIABLE = "PARLEY_CONFIG"
"""Names the configuration file; the one variable with the prefix that is no key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One setting as text: the parts of its name, the text, and the place to name in a problem."""

    parts: tuple[str, ...]
    text: str
    origin: str


def from_variables(variables: Mapping[str, str], *, places: Mapping[str, str] | None = None) -> list[Given]:
    """The settings among environment variables; `places` adds to a name where it stands (".env:3")."""
    found = []
    for name, text in sorted(variables.items()):
        if name.startswith(PREFIX) and name != CONFIG_VARIABLE and text:
            place = (places or {}).get(name)
            origin = f"{name} ({place})" if place else name
            found.append(Given(parts=tuple(name.removeprefix(PREFIX).split("__")), text=text, origin=origin))
    return found


def from_credentials(credentials: Mapping[str, str], root: Keys) -> list[Given]:
    """The settings among credential files: `PARLEY_…` names, and dotted names that begin with a section."""
    found = []
    for name, text in sorted(credentials.items()):
        if name.startswith(PREFIX):
            parts = tuple(name.removeprefix(PREFIX).split("__"))
        elif "." in name and name.split(".")[0] in root.keys:
            parts = tuple(name.split("."))
        else:
            continue
        if text:
            found.append(Given(parts=parts, text=text, origin=f"credential {name}"))
    return found


def read_env_file(path: FilePath) -> tuple[dict[str, str], dict[str, str], list[Problem]]:
    """A `.env` file: its variables, the place of each (".env:3"), its problems. A missing file is empty."""
    variables: dict[str, str] = {}
    places: dict[str, str] = {}
    problems: list[Problem] = []
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return variables, places, problems
    except (OSError, UnicodeDecodeError):
        problem = Problem(
            what="cannot be read as text", where=str(path), fix="check its permissions and encoding"
        )
        return variables, places, [problem]
    for binding in parse_stream(io.StringIO(text)):
        # A binding begins with the blank lines above it.
        blank = len(binding.original.string) - len(binding.original.string.lstrip())
        line = binding.original.line + binding.original.string[:blank].count("\n")
        place = f"{path}:{line}"
        if binding.error:
            problems.append(Problem(what="no valid line", where=place, fix='write NAME="value"'))
        elif binding.key in variables:
            what = f"{binding.key} is given twice, first at {places[binding.key]}"
            problems.append(Problem(what=what, where=place, fix="remove one of them"))
        elif binding.key == CONFIG_VARIABLE:
            fix = "set it in the environment, or use -c"
            problems.append(Problem(what=f"{binding.key} has no effect in this file", where=place, fix=fix))
        elif binding.key is not None:
            variables[binding.key] = binding.value or ""
            places[binding.key] = place
    return variables, places, problems


def read_credentials(folder: FilePath) -> tuple[dict[str, str], list[Problem]]:
    """The files of $CREDENTIALS_DIRECTORY by name, and problems with reading those that look like ours."""
    credentials: dict[str, str] = {}
    problems: list[Problem] = []
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        return {}, [Problem(what=what, where=str(folder), fix="check $CREDENTIALS_DIRECTORY")]
    for path in files:
        try:
            credentials[path.name] = re.sub(r"\r?\n\Z", "", path.read_text("utf-8"))
        except UnicodeDecodeError:
            continue  # a binary credential (a key store) is somebody else's
        except OSError as error:
            what = f"cannot be read ({error.strerror})"
            problems.append(Problem(what=what, where=str(path), fix="check its permissions"))
    return credentials, problems


def to_layer(given: Iterable[Given], root: Keys, below: Sequence[Layer]) -> tuple[Layer, list[Problem]]:
    """The layer these settings make above `below` (weak to strong), and what is wrong with them."""
    layer, problems = Layer(), []
    for setting in sorted(given, key=lambda item: len(item.parts)):
        found = _resolve(setting, root, [*below, layer])
        if isinstance(found, Problem):
            problems.append(found)
            continue
        path, shape = found
        try:
            layer.put(path, from_text(setting.text, shape), setting.origin)
        except ValueError as error:
            what, _, fix = str(error).partition("; ")
            problems.append(Problem(what=f"{dotted(path)} {what}", where=setting.origin, fix=fix))
    return layer, problems


def _resolve(setting: Given, root: Keys, layers: Sequence[Layer]) -> tuple[Path, Shape] | Problem:
    path: tuple[str, ...] = ()
    shape: Shape = root
    for part in setting.parts:
        if isinstance(shape, Accounts) and is_list_at(path, layers):
            what = f"{dotted(path)} is a list of accounts, so it is not clear which one this belongs to"
            fix = f"unset it and write ${{NAME}} in the list, with a NAME that does not begin with {PREFIX}"
            return Problem(what=what, where=setting.origin, fix=fix)
        key = _own_key(part, keys_at(path, layers), shape.value) if isinstance(shape, MapOf) else part.lower()
        spelled = _spelling(shape, key)
        below = step(shape, spelled)
        if below is None or not part:
            return _unknown(setting, root, path, key, shape)
        path, shape = (*path, spelled), below
    return path, shape


def _own_key(part: str, existing: Sequence[str], value: Shape) -> str:
    if part in existing:
        return part
    for key in existing:
        if re.sub(r"[^a-z0-9_]", "_", key.lower()) == part.lower():
            return key
    return part.lower() if part.isupper() and not isinstance(value, Leaf) else part


def _spelling(shape: Shape, key: str) -> str:
    if isinstance(shape, Keys):
        return next((known for known in shape.keys if known.lower() == key), key)
    return key


def _unknown(setting: Given, root: Keys, path: tuple[str, ...], key: str, shape: Shape) -> Problem:
    if not path:
        # The whole name is compared: most such slips are a single underscore (PARLEY_TELEGRAM_TOKEN).
        known = ["__".join(found).upper() for found in key_paths(root) if "*" not in found]
        meant = nearest("__".join(setting.parts), known)
        fix = f"did you mean {PREFIX}{meant}?" if meant else "unset it; `parley config schema` lists all keys"
        return Problem(what="no known key has this name", where=setting.origin, fix=fix)
    what, fix = unknown_key(root, path, key, shape)
    meant = nearest(key, fixed_keys(shape))
    if meant and setting.origin.startswith(PREFIX):
        fix = f"did you mean {PREFIX}{'__'.join((*path, meant)).upper()}?"
    return Problem(what=what, where=setting.origin, fix=fix)
