"""What holds when nothing is written."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.req("OPS-2")

DEFAULTS = {
    "database": "sqlite",
    "web": {
        "enabled": True,
        "host": "127.0.0.1",
        "port": 8765,
        "token": None,
        "users": {},
        "stream_timeout_s": 300,
    },
    "mcpServers": {},
    "approvals": {
        "default": "ask",
        "allow": [],
        "deny": [],
        "two_person": [],
        "timeout_s": 1800,
        "approvers": [],
        "escalate": {"after_s": 600, "to": None},
    },
    "audit": {"key": None},
    "tools": {
        "read_only": [],
        "idempotent": [],
        "admin_only": [],
        "off": {},
        "timeout_s": 300,
        "connect_timeout_s": 10,
        "answer_wait_s": 240,
        "result_limit": 50000,
    },
    "turns": {"timeout_s": 1800, "budget": 40, "attempts": 3},
    "retention": {
        "inbox_days": 14,
        "events_days": 30,
        "outbox_days": 30,
        "dead_letters_days": 90,
        "buttons_days": 30,
        "results_days": 30,
        "told_days": 90,
        "usage_days": 400,
    },
    "files": {"max_bytes": 1_000_000, "max_chars": 50_000},
    "shutdown": {"drain_s": 30},
    "context": {"compress_at": 0.5, "protect_first": 3, "protect_last": 20, "summary_model": None},
    "memory": {"provider": "builtin", "settings": {}, "review_every": 10},
    "delivery": {
        "unknown": "notice",
        "max_pieces": 10,
        "max_age_s": 86400,
        "inbound_max_age_s": 3600,
        "reactions": False,
    },
    "limits": {"messages_per_day": None, "tokens_per_day": None, "usd_per_day": None},
    "chats": {},
    "schedules": {},
    "webhooks": {},
    "sessions": {
        "reset": "idle",
        "idle_s": 86400,
        "daily_at": "04:00:00",
        "timezone": "UTC",
        "group": "user",
        "thread": "shared",
        "kinds": {},
        "platforms": {},
    },
    "queue": {
        "mode": "queue",
        "lane_size": 50,
        "gather_s": 1.0,
        "max_running_per_user": 5,
        "max_running": 200,
    },
    "access": {
        "allow": {},
        "admins": {},
        "pairing": True,
        "groups": "mention",
        "bots": False,
        "bot_limit": 20,
    },
    "log": {"level": "info", "libraries": "warning", "format": "console"},
}


def test_every_default_is_the_documented_one(load):
    dumped = load().model_dump(mode="json", by_alias=True)

    assert {key: dumped[key] for key in DEFAULTS} == DEFAULTS


def test_without_any_token_there_is_no_account_and_the_agent_speaks_with_the_demo_model(load):
    config = load()

    assert config.accounts == ()
    assert config.agents.keys() == {"default"}
    assert config.agents["default"].model == "demo"
    assert config.models["demo"].provider == "demo"


def test_a_real_model_is_ready_and_only_lacks_its_key(load):
    config = load(PARLEY_MODELS__GPT__API_KEY="a-key-for-tests", PARLEY_AGENTS__DEFAULT__MODEL="gpt")

    assert config.agents["default"].model == "gpt"
    assert config.models["gpt"].model == "gpt-5"
    assert config.models["gpt"].context_window == 400_000
    assert config.models["gpt"].fallback == ("demo",)
    assert config.models["gpt"].api_key.get_secret_value() == "a-key-for-tests"


def test_a_model_written_whole_takes_nothing_from_the_built_in_one_of_its_name(load):
    gpt = load("models: {gpt: {provider: openai, model: local}}").models["gpt"]

    assert (gpt.context_window, gpt.fallback) == (None, ())


def test_the_demo_model_stays_known_beside_models_of_ones_own(load):
    assert load("models: {own: {provider: openai, model: m}}").models.keys() == {"demo", "gpt", "own"}


def test_the_configuration_cannot_be_changed(load):
    config = load()

    with pytest.raises(ValueError, match="frozen"):
        config.database = "other"
    with pytest.raises(ValueError, match="frozen"):
        config.turns.budget = 1


def test_the_state_folder_is_beside_the_file_wherever_the_command_was_started(load, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "config.yaml").write_text("")
    monkeypatch.chdir(tmp_path / "elsewhere")

    config = load(PARLEY_CONFIG=str(tmp_path / "config.yaml"))

    assert config.state_dir == tmp_path / "state"


def test_systemd_names_the_state_folder_unless_the_file_does(load):
    assert load(STATE_DIRECTORY="/var/lib/parley:/var/lib/other").state_dir == Path("/var/lib/parley")
    assert load("state_dir: /srv/parley", STATE_DIRECTORY="/var/lib/parley").state_dir == Path("/srv/parley")
