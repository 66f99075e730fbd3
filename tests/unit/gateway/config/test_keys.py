"""Keys that do not exist, stand in the wrong place or hold the wrong kind of value."""

import pytest

from gateway.config import ConfigError

pytestmark = pytest.mark.req("OPS-2")


def test_a_misspelt_key_is_named_with_its_place_and_the_nearest_right_one(problems):
    # C151a
    assert problems("access:\n  alow: {telegram: [1]}\n") == [
        "config.yaml:2: access.alow is no known key; did you mean access.allow?"
    ]


def test_a_key_in_the_wrong_section_is_told_where_it_belongs(problems):
    # C151b
    assert problems("sessions:\n  budget: 40\n") == [
        "config.yaml:2: sessions.budget is no known key; budget belongs in turns"
    ]
    assert problems("web: {}\ntoken: x\n") == [
        "config.yaml:2: token is no known key; token belongs in web or telegram"
    ]


def test_unknown_keys_are_found_at_every_depth(problems):
    text = """
modles: {}
models: {gpt: {api_kee: x}}
mcpServers: {time: {command: python3, arg: [-m]}}
telegram: {tokn: x}
slack: [{bot_token: a, app_token: b}, {bot_token: c, app_token: d, app_base: e}]
access: {allow: {telegrm: []}}
"""
    assert [line.split(";")[0] for line in problems(text)] == [
        "config.yaml:2: modles is no known key",
        "config.yaml:3: models.gpt.api_kee is no known key",
        "config.yaml:4: mcpServers.time.arg is no known key",
        "config.yaml:5: telegram.tokn is no known key",
        "config.yaml:6: slack[1].app_base is no known key",
        "config.yaml:7: access.allow.telegrm names the platform 'telegrm', which does not exist",
    ]


def test_all_mistakes_are_told_at_once(problems):
    text = "acess: {}\nturns: {budget: many, budget: 3}\nsessions: {timezone: Europe/Lisbn}\n"

    found = problems(text, PARLEY_WEB__PROT="1", PARLEY_TURNS__TIMEOUT_S="-1")

    assert found == [
        "config.yaml:2: turns.budget is given twice, first in line 2; remove one of them",
        "config.yaml:1: acess is no known key; did you mean access?",
        "PARLEY_WEB__PROT: web.prot is no known key; did you mean PARLEY_WEB__PORT?",
        "PARLEY_TURNS__TIMEOUT_S: turns.timeout_s should be greater than 0; correct the value",
        "config.yaml:2: turns.budget should be a whole number; write digits only",
        "config.yaml:3: sessions.timezone 'Europe/Lisbn' is no known time zone; write one like Europe/Lisbon or UTC",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("turns: 5", "turns should be a mapping; write its keys, one a line"),
        ("turns: soon", 'turns is a mapping; write JSON, like {"key": "value"}, or each key on its own'),
        ("web: {enabled: maybe}", "web.enabled should be true or false; write one of the two"),
        ("web: {host: 127}", "web.host should be a text; write it in quotes"),
        (
            "tools: {read_only: {a: b}}",
            ("tools.read_only should be a list; write [a, b] or one line with a dash for each"),
        ),
        ("tools: {read_only: [5]}", "tools.read_only[0] should be a text; write it in quotes"),
        (
            "sessions: {reset: idel}",
            ("sessions.reset should be one of 'idle', 'daily', 'both' or 'none'; did you mean idle?"),
        ),
        ("web: {port: 70000}", "web.port should be less than or equal to 65535; correct the value"),
        ("turns: {timeout_s: .inf}", "turns.timeout_s should be a number; write digits, without a unit"),
        (
            "queue: {max_running: 0}",
            "queue.max_running should be greater than or equal to 1; correct the value",
        ),
        (
            "telegram: {mode: poling}",
            "telegram.mode should be one of 'polling' or 'webhook'; did you mean polling?",
        ),
        ("models: {m: {model: x}}", "models.m.provider is missing; set it"),
        (
            "models: {m: {provider: openai}}",
            "models.m provider 'openai' needs to know which model; set model",
        ),
        (
            "mcpServers: {m: {}}",
            "mcpServers.m a server is reached by exactly one of command and url; set one of them",
        ),
        (
            "mcpServers: {m: {url: 'http://h', args: [a]}}",
            ("mcpServers.m args, env and cwd are for servers with a command; use headers for a url"),
        ),
        (
            "mcpServers: {m: {command: c, headers: {a: b}}}",
            ("mcpServers.m headers are for servers with a url; use env for a command"),
        ),
        (
            "database: mysql://h",
            ("database names no database Parley can use; write sqlite or postgresql://user@host/name"),
        ),
        ("schedules: {daily: {}}", "schedules cannot be used in this version; leave it empty"),
        (
            "sessions: {daily_at: '24:00'}",
            ('sessions.daily_at \'24:00\' is no time of day; write "HH:MM", from "00:00" to "23:59"'),
        ),
    ],
)
def test_a_wrong_value_is_told_in_words(problems, text, told):
    assert problems(text) == [f"config.yaml:1: {told}"]


def test_a_section_whose_keys_are_all_commented_out_counts_as_not_given(load):
    assert load("web:\n  # port: 1\ntelegram:\nmodels:\n  demo:\n").web.port == 8765


def test_numbers_may_be_text_and_ids_numbers(load):
    config = load(
        'web: {port: "80"}\naccess: {allow: {telegram: [123, "456"]}, admins: {telegram: [99999999999999999]}}'
    )

    assert config.web.port == 80
    assert config.access.allow == {"telegram": ("123", "456")}
    assert config.access.admins == {"telegram": ("99999999999999999",)}


@pytest.mark.req("ACC-4")
def test_no_problem_repeats_a_value_that_may_be_a_secret(load):
    secret = "sk-a-secret-that-landed-in-the-wrong-place"
    wrong = f"web: {{port: {secret}, enabled: {secret}}}\ntelegram: {{token: [{secret}], mode: {secret}}}\n"

    with pytest.raises(ConfigError) as caught:
        load(wrong, PARLEY_TURNS__BUDGET=secret, PARLEY_TURNS__TIMEOUT_S="x", PARLEY_MODELS=secret)

    assert len(caught.value.problems) == 7
    misplaced = f"access: {{allow: {{telegram: [{secret}]}}}}\nagents: {{default: {{model: {secret}}}}}\n"
    with pytest.raises(ConfigError, match=r"sk-\*\*\*"):
        load(misplaced)
    assert secret not in str(caught.value)
    assert secret not in repr(caught.value.problems)
