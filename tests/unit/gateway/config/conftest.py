"""Configurations written into a folder of their own, with settings models as adapters declare them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, SecretStr

from gateway.config import Config, ConfigError, load_config


class OneToken(BaseModel):
    """A platform with one token, like most."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    token: SecretStr | None = None
    api_base: str = "https://api.example.test"
    mode: Literal["polling", "webhook"] = "polling"
    streaming: bool = True
    regions: tuple[str, ...] = ()

    @property
    def enabled(self) -> bool:
        return self.token is not None


class TwoTokens(BaseModel):
    """A platform that needs two."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None

    @property
    def enabled(self) -> bool:
        return self.bot_token is not None and self.app_token is not None


SECTIONS: Mapping[str, type[BaseModel]] = {"telegram": OneToken, "slack": TwoTokens}

Load = Callable[..., Config]
Problems = Callable[..., list[str]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Loads `config.yaml` with this text, in an otherwise empty working directory."""
    monkeypatch.chdir(tmp_path)

    def run(text: str | None = None, *, dotenv: str | None = None, **environ: str) -> Config:
        for name, content in (("config.yaml", text), (".env", dotenv)):
            if content is not None:
                (tmp_path / name).write_text(content, "utf-8")
        return load_config(path=None, environ=environ, sections=SECTIONS, platforms=("terminal",))

    return run


@pytest.fixture
def problems(load: Load) -> Problems:
    """Loads what is wrong and gives the lines a person would read."""

    def run(text: str | None = None, *, dotenv: str | None = None, **environ: str) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            load(text, dotenv=dotenv, **environ)
        return [str(problem) for problem in caught.value.problems]

    return run
