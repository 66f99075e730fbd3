"""Names that one section uses and another must have."""

import pytest

from gateway.config import is_loopback

pytestmark = pytest.mark.req("OPS-2")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "agents: {default: {model: gtp}}",
            ("agents.default.model names the model 'gtp', which is not in models; did you mean gpt?"),
        ),
        (
            "models: {own: {provider: demo, fallback: [demo, x]}}",
            ("models.own.fallback[1] names the model 'x', which is not in models; known are: demo, gpt, own"),
        ),
        (
            "models: {own: {provider: demo, fallback: [own]}}",
            ("models.own.fallback names its own model; name other models"),
        ),
        (
            "context: {summary_model: dmo}",
            ("context.summary_model names the model 'dmo', which is not in models; did you mean demo?"),
        ),
        (
            "chats: {'telegram:1': {agent: cod}}",
            ("chats.telegram:1.agent names the agent 'cod', which is not in agents; known are: default"),
        ),
        (
            "agents: {coder: {}, Coder: {}}",
            "agents.Coder cannot be told from 'coder'; @Coder is read in any case; give one of the two another name",
        ),
        (
            "chats: {'12345': {}}",
            'chats.12345 does not say whose chat it is; write the key as "platform:chat id"',
        ),
        (
            "sessions: {platforms: {telegarm: {}}}",
            (
                "sessions.platforms.telegarm names the platform 'telegarm', which does not exist; "
                "did you mean telegram?"
            ),
        ),
        (
            "{limits: {usd_per_day: 1}, agents: {default: {model: gpt}}}",
            (
                "limits.usd_per_day cannot be kept: the price of 'gpt' is not known; "
                "set models.gpt.price: {{input: …, output: …}} (US dollars per million tokens)"
            ),
        ),
        ("state_dir: config.yaml", "state_dir {folder}/config.yaml is no folder; name a folder"),
    ],
)
def test_a_name_that_does_not_exist_is_told(problems, tmp_path, text, told):
    assert problems(text) == [f"config.yaml:1: {told.format(folder=tmp_path)}"]


@pytest.mark.req("ACC-4")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.test"])
def test_a_console_on_a_public_address_needs_a_token(load, problems, host):
    # C107b
    assert problems(f"web:\n  host: '{host}'\n") == [
        (
            f"config.yaml:1: web host {host} can be reached from other machines and no token is set; "
            "set web.token (PARLEY_WEB__TOKEN) or web.host: 127.0.0.1"
        )
    ]
    assert load(PARLEY_WEB__TOKEN="long-and-random").web.host == host
    assert load(PARLEY_WEB__ENABLED="false").web.host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_addresses_need_none(host):
    assert is_loopback(host)


@pytest.mark.req("SES-2")
def test_a_kind_of_chat_may_have_session_rules_of_its_own_and_the_more_exact_ones_hold(load):
    sessions = load(
        "sessions: {reset: none, kinds: {group: {reset: daily, timezone: Asia/Seoul}},"
        " platforms: {telegram: {reset: idle, kinds: {dm: {reset: both}}}}}"
    ).sessions

    at = {(p, k): sessions.at(p, k).reset for p in ("telegram", "slack") for k in ("dm", "group", "thread")}
    assert at == {
        ("telegram", "dm"): "both",
        ("telegram", "group"): "idle",
        ("telegram", "thread"): "idle",
        ("slack", "dm"): "none",
        ("slack", "group"): "daily",
        ("slack", "thread"): "none",
    }
    assert sessions.at("telegram", "group").timezone == "Asia/Seoul"


def test_a_platform_may_have_session_rules_of_its_own(load):
    sessions = load("sessions: {idle_s: 60, platforms: {telegram: {group: shared, reset: none}}}").sessions

    telegram, other = sessions.on("telegram"), sessions.on("slack")
    assert (telegram.group, telegram.reset, telegram.idle_s) == ("shared", "none", 60)
    assert (other.group, other.reset, other.idle_s) == ("user", "idle", 60)
