"""`load_config`: find the file, read every layer, check everything, or say all that is wrong at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from gateway.config.checks import config_problems
from gateway.config.environment import (
    CONFIG_VARIABLE,
    from_credentials,
    from_variables,
    read_credentials,
    read_env_file,
    to_layer,
)
from gateway.config.layers import Layer
from gateway.config.problems import ConfigError, Problem
from gateway.config.refused import refused
from gateway.config.settings import Config, Provenance, config_shape, config_type
from gateway.config.strict import settle
from gateway.config.yaml_file import YamlFile, read_yaml

SYSTEM_FILE = Path("/etc/parley/config.yaml")


def load_config(
    *,
    path: Path | None,
    environ: Mapping[str, str],
    sections: Mapping[str, type[BaseModel]],
    platforms: Sequence[str] = (),
    folder: Path | None = None,
) -> Config:
    """The configuration in force.

    The file is `path`, else $PARLEY_CONFIG, else config.yaml in `folder`, else /etc/parley/config.yaml, else
    none. `.env` stands beside the file, or in `folder` without one. Rules for variables and credentials are
    in `environment`, for the file in `yaml_file`.

    Args:
        path: A file to use and no other.
        environ: The environment; nothing is read from the process's own.
        sections: The adapters' settings models by platform.
        platforms: Platforms without a section that access lists may name as well.
        folder: Where the search begins; the working directory by default.

    Raises:
        ConfigError: with every problem found.
    """
    folder = Path() if folder is None else folder
    file = _find(path, environ, folder)
    home = file.parent if file else folder
    shape = config_shape(sections)

    env_file, env_places, problems = read_env_file(home / ".env")
    credentials, credential_problems = _credentials(environ)
    problems += credential_problems

    def lookup(name: str) -> str | None:
        return environ.get(name) or env_file.get(name) or credentials.get(name) or None

    read = read_yaml(file, lookup) if file else YamlFile()
    problems += read.problems
    problems += settle(read.layer, shape)
    layers = [_built_in(environ), read.layer]
    # A variable of the environment hides the same one of .env, wrong or not: it is no longer in force.
    env_file = {name: text for name, text in env_file.items() if name not in environ}
    for given in (
        from_credentials(credentials, shape),
        from_variables(env_file, places=env_places),
        from_variables(environ),
    ):
        layer, layer_problems = to_layer(given, shape, layers)
        problems += layer_problems
        problems += settle(layer, shape)
        layers.append(layer)
    _drop_replaced_models(layers)

    try:
        config = config_type(sections).of(
            Provenance(layers=tuple(layers), file=file, substituted=read.substituted)
        )
    except ValidationError as error:
        raise ConfigError([*problems, *refused(error, layers)]) from None
    config = config.model_copy(update={"state_dir": _state_dir(config, home, folder)})
    problems += config_problems(config, [*sections, *platforms, "web"])
    if problems:
        raise ConfigError(problems)
    return config


def _find(path: Path | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    named = path or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    if named is not None:
        return named
    for candidate in (folder / "config.yaml", SYSTEM_FILE):
        try:
            candidate.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # there may be one, and reading it will say why it cannot be used
            return candidate
        return candidate
    return None


def _credentials(environ: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    return read_credentials(Path(folder)) if folder else ({}, [])


def _built_in(environ: Mapping[str, str]) -> Layer:
    """What stands without any file: the agent, the demo model, and one real model that only lacks its key."""
    layer = Layer()
    layer.values["agents"] = {"default": {}}
    layer.values["models"] = {
        "demo": {"provider": "demo"},
        "gpt": {"provider": "openai", "model": "gpt-5", "context_window": 400_000, "fallback": ["demo"]},
    }
    state = environ.get("STATE_DIRECTORY")
    if state:
        # systemd gives several folders separated by colons where a unit names several; the first is ours.
        layer.put(("state_dir",), state.split(":")[0], "$STATE_DIRECTORY")
    return layer


def _drop_replaced_models(layers: Sequence[Layer]) -> None:
    """A model entry that names its provider is whole: nothing of a built-in one shines through."""
    built_in = layers[0].values["models"]
    for layer in layers[1:]:
        models = layer.values.get("models")
        for name, entry in models.items() if isinstance(models, dict) else ():
            if isinstance(entry, dict) and "provider" in entry:
                built_in.pop(name, None)


def _state_dir(config: Config, home: Path, folder: Path) -> Path:
    """Absolute: from the file's folder, so that it does not depend on where a command is started."""
    origin = config.origin(("state_dir",))
    base = folder if origin.startswith("PARLEY_") else home
    return (base / config.state_dir.expanduser()).absolute()
