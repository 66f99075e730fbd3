"""What `parley config show`, `check` and `schema` print."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.config import ConfigError, config_schema, describe, load_config, shown, summary
from gateway.redaction import Redactor

from .conftest import SECTIONS

pytestmark = pytest.mark.req("OPS-2")


def test_every_value_is_shown_with_the_place_it_comes_from(load):
    config = load(
        "telegram: [{token: t-secret-1}, {token: t-secret-2}]\nturns: {budget: 5}", PARLEY_WEB__PORT="80"
    )

    lines = describe(config).splitlines()

    assert "turns.budget = 5  (config.yaml:2)" in lines
    assert "web.port = 80  (PARLEY_WEB__PORT)" in lines
    assert "queue.lane_size = 50  (default)" in lines
    assert "telegram[1].token = (set, hidden)  (config.yaml:1)" in lines
    assert 'sessions.daily_at = "04:00"  (default)' in lines
    assert "slack.bot_token = null  (default)" in lines
    assert len({value.key for value in shown(config)}) == len(lines)


@pytest.mark.req("ACC-4")
def test_no_secret_is_shown_wherever_it_stands(load):
    secrets = {
        "PARLEY_TELEGRAM__TOKEN": "123456789:AAFAKEfakeFAKEfakeFAKEfakeFAKEfake000",
        "PARLEY_MODELS__GPT__API_KEY": "a-key-of-no-known-shape",
        "PARLEY_MCPSERVERS__DOCS__ENV__LOGIN": "not-a-real-password",
        "PARLEY_WEB__USERS__ann": "lettersonly",
        "DOCS_KEY": "filled-into-an-argument",
    }
    text = """
database: postgresql://app:p%40ssword@db.example.test/main
mcpServers: {docs: {command: c, args: [--key, "${DOCS_KEY}"], env: {MODE: production}}}
"""
    config = load(text, **secrets)

    told = describe(config) + summary(config) + Redactor(config.secrets()).text(repr(config))
    for secret in [*secrets.values(), "p%40ssword", "p@ssword"]:
        assert secret in config.secrets()
        assert secret not in told
    assert "postgresql://app:***@db.example.test/main" in told
    assert "production" not in config.secrets()


def test_the_summary_says_what_would_run(load):
    assert summary(load()) == "configuration is right: no file; no platform; agents: default with demo"
    assert summary(load("telegram: [{token: a}, {token: b}]\nagents: {coder: {model: gpt}}")) == (
        "configuration is right: config.yaml; telegram (2); agents: default with demo, coder with gpt"
    )


def test_the_schema_has_every_section_and_takes_one_account_or_a_list():
    schema = config_schema(SECTIONS)

    assert schema["additionalProperties"] is False
    assert {"mcpServers", "web", "telegram", "slack"} < schema["properties"].keys()
    assert [entry.get("type", "one") for entry in schema["properties"]["telegram"]["anyOf"]] == [
        "one",
        "array",
    ]
    json.dumps(schema)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SECTION_NAMES = st.sampled_from(["web", "turns", "telegram", "models", "access", "chats", "mcpServers", "x"])
VARIABLES = st.sampled_from(["PARLEY_WEB", "PARLEY_WEB__PORT", "PARLEY_CHATS", "PARLEY_TELEGRAM"])


@given(st.dictionaries(SECTION_NAMES, VALUES), st.dictionaries(VARIABLES, TEXTS))
def test_whatever_is_written_either_loads_or_says_what_is_wrong_in_single_lines(
    tmp_path_factory, values, environ
):
    folder = tmp_path_factory.mktemp("config")
    (folder / "config.yaml").write_text(json.dumps(values), "utf-8")

    told = told_of(folder, environ)

    assert told is None or told
    assert all(len(line.splitlines()) == 1 for line in told or [])


def told_of(folder: Path, environ: dict[str, str]) -> list[str] | None:
    """The lines of the problems, or None for a configuration that is right (and can be shown)."""
    try:
        config = load_config(path=None, environ=environ, sections=SECTIONS, folder=folder)
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return None if describe(config) else []
