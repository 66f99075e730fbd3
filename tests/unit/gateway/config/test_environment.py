"""Variables, `.env` and systemd credentials."""

import json

import pytest

pytestmark = pytest.mark.req("OPS-2")


def test_every_key_can_be_set_by_a_variable(load):
    config = load(
        PARLEY_STATE_DIR="elsewhere",
        PARLEY_WEB__PORT="9000",
        PARLEY_MCPSERVERS__TIME__COMMAND="python3",
        PARLEY_MCPSERVERS__TIME__ARGS="-m, mcp_server_time",
        PARLEY_CONTEXT__SUMMARY_MODEL="null",
        PARLEY_ACCESS__ALLOW__TELEGRAM="123, chat:-100",
        PARLEY_TELEGRAM__REGIONS="a,b",
        PARLEY_TOOLS__READ_ONLY='["time/*"]',
    )

    assert config.state_dir.name == "elsewhere"
    assert config.web.port == 9000
    assert config.mcp_servers["time"].args == ("-m", "mcp_server_time")
    assert config.context.summary_model is None
    assert config.access.allow == {"telegram": ("123", "chat:-100")}
    assert config.section("telegram")[0].settings.regions == ("a", "b")
    assert config.tools.read_only == ("time/*",)


def test_a_variable_changes_one_key_and_leaves_its_neighbours_from_the_file(load):
    turns = load("turns: {budget: 5, attempts: 2}", PARLEY_TURNS__BUDGET="6").turns

    assert (turns.budget, turns.attempts) == (6, 2)


def test_the_environment_is_stronger_than_dotenv_than_credentials_than_the_file(load, tmp_path):
    (tmp_path / "credentials").mkdir()
    for name in ("web.port", "turns.budget", "turns.attempts"):
        (tmp_path / "credentials" / name).write_text("2\n")

    config = load(
        "{web: {port: 1}, turns: {budget: 1, attempts: 1, timeout_s: 1}}",
        dotenv="PARLEY_WEB__PORT=3\nPARLEY_TURNS__BUDGET=3\n",
        CREDENTIALS_DIRECTORY=str(tmp_path / "credentials"),
        PARLEY_WEB__PORT="4",
    )

    assert (config.web.port, config.turns.budget, config.turns.attempts, config.turns.timeout_s) == (
        4,
        3,
        2,
        1,
    )
    assert config.origin(("web", "port")) == "PARLEY_WEB__PORT"
    assert config.origin(("turns", "budget")) == "PARLEY_TURNS__BUDGET (.env:2)"
    assert config.origin(("turns", "attempts")) == "credential turns.attempts"
    assert config.origin(("turns", "timeout_s")) == "config.yaml:1"
    assert config.origin(("queue", "lane_size")) == "default"


@pytest.mark.req("ACC-4")
def test_a_token_comes_from_a_systemd_credential(load, tmp_path):
    (tmp_path / "telegram.token").write_text("123:from-a-file\n")
    (tmp_path / "PARLEY_MODELS__gpt__API_KEY").write_text("key")
    (tmp_path / "tls.pem").write_bytes(b"\xff\xfe not ours")
    (tmp_path / "second").write_text("in-the-file")

    config = load("web: {token: '${second}'}", CREDENTIALS_DIRECTORY=str(tmp_path))

    assert config.accounts[0].settings.token.get_secret_value() == "123:from-a-file"
    assert config.models["gpt"].api_key.get_secret_value() == "key"
    assert config.web.token.get_secret_value() == "in-the-file"


def test_a_credential_named_like_no_key_of_a_section_is_an_error(problems, tmp_path):
    (tmp_path / "telegram.tokn").write_text("x")

    assert problems(CREDENTIALS_DIRECTORY=str(tmp_path)) == [
        "credential telegram.tokn: telegram.tokn is no known key; did you mean telegram.token?"
    ]


def test_unknown_variables_are_named_with_the_nearest_right_one(problems):
    assert problems(
        PARLEY_TELEGRAM_TOKEN="x", PARLEY_TELEGRAM__TOKN="x", PARLEY_ZZZ="x", PARLEY_WEB__="x"
    ) == [
        "PARLEY_TELEGRAM_TOKEN: no known key has this name; did you mean PARLEY_TELEGRAM__TOKEN?",
        "PARLEY_ZZZ: no known key has this name; unset it; `parley config schema` lists all keys",
        "PARLEY_TELEGRAM__TOKN: telegram.tokn is no known key; did you mean PARLEY_TELEGRAM__TOKEN?",
        "PARLEY_WEB__: web. is no known key; known here: enabled, host, port, token, users, stream_timeout_s",
    ]


def test_an_empty_variable_counts_as_not_set(load):
    config = load("telegram: {token: t}", PARLEY_TELEGRAM__TOKEN="", PARLEY_NO_SUCH="")

    assert config.accounts[0].settings.token.get_secret_value() == "t"


def test_variables_of_others_are_left_alone(load):
    load(PATH="/bin", PARLEYISH="x", parley_web__port="x")


@pytest.mark.parametrize("name", ["gpt", "GPT", "Gpt"])
def test_a_name_of_ones_own_is_found_without_regard_to_case(load, name):
    config = load("models: {gpt: {provider: openai, model: m}}", **{f"PARLEY_MODELS__{name}__API_KEY": "k"})

    assert config.models.keys() == {"demo", "gpt"}
    assert config.models["gpt"].api_key.get_secret_value() == "k"


def test_what_a_variable_cannot_spell_is_an_underscore(load):
    models = load(
        "models: {GPT-4.1: {provider: openai, model: m}}", PARLEY_MODELS__GPT_4_1__API_KEY="k"
    ).models

    assert models["GPT-4.1"].api_key.get_secret_value() == "k"


def test_a_new_name_in_capitals_is_taken_in_small_letters_and_any_other_as_written(load):
    config = load(PARLEY_AGENTS__CODER__MODEL="demo", PARLEY_AGENTS__myHelper__MODEL="demo")

    assert config.agents.keys() == {"default", "coder", "myHelper"}


def test_names_of_a_servers_own_variables_keep_their_case(load):
    config = load("mcpServers: {docs: {command: c}}", PARLEY_MCPSERVERS__DOCS__ENV__API_KEY="k")

    assert config.mcp_servers["docs"].env["API_KEY"].get_secret_value() == "k"


def test_a_mapping_in_one_variable_is_json_and_checked_like_a_file(load, problems):
    chats = {"telegram:-100": {"queue": "collect", "groups": "always"}}

    assert load(PARLEY_CHATS=json.dumps(chats)).chats["telegram:-100"].queue == "collect"
    assert problems(PARLEY_CHATS='{"telegram:-100": {"que": "collect"}}') == [
        "PARLEY_CHATS: chats.telegram:-100.que is no known key; did you mean chats.telegram:-100.queue?"
    ]
    assert problems(PARLEY_CHATS="collect") == [
        'PARLEY_CHATS: chats is a mapping; write JSON, like {"key": "value"}, or each key on its own'
    ]


def test_json_that_is_none_or_has_a_key_twice_is_an_error(problems):
    assert problems(PARLEY_TOOLS__READ_ONLY="[a/b]", PARLEY_TURNS='{"budget": 1, "budget": 2}') == [
        "PARLEY_TURNS: turns has a key twice; remove one of them",
        (
            "PARLEY_TOOLS__READ_ONLY: tools.read_only begins like a JSON list and is none; "
            "write JSON, or items with commas between"
        ),
    ]


def test_a_variable_inside_one_that_holds_the_whole_section_wins(load):
    config = load(PARLEY_TURNS='{"budget": 1, "attempts": 2}', PARLEY_TURNS__BUDGET="3")

    assert (config.turns.budget, config.turns.attempts) == (3, 2)


def test_a_token_variable_beside_a_list_of_accounts_is_an_error(problems):
    # pydantic-settings alone would drop the whole list.
    assert problems("telegram:\n  - {token: a}\n  - {token: b}\n", PARLEY_TELEGRAM__TOKEN="c") == [
        (
            "PARLEY_TELEGRAM__TOKEN: telegram is a list of accounts, so it is not clear which one this belongs to; "
            "unset it and write ${NAME} in the list, with a NAME that does not begin with PARLEY_"
        )
    ]


def test_mistakes_in_dotenv_have_its_lines(problems):
    assert problems(dotenv="PARLEY_CONFIG=other.yaml\n") == [
        ".env:1: PARLEY_CONFIG has no effect in this file; set it in the environment, or use -c"
    ]
    assert problems(dotenv="# tokens\nPARLEY_WEB__PROT=1\n\nnot a line\nA=1\nA=2\n") == [
        '.env:4: no valid line; write NAME="value"',
        ".env:6: A is given twice, first at .env:5; remove one of them",
        "PARLEY_WEB__PROT (.env:2): web.prot is no known key; did you mean PARLEY_WEB__PORT?",
    ]
