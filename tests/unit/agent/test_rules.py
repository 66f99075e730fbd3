"""Small pure rules: budget, retries, cool-down, notices, prompt, tool patterns, settings."""

from dataclasses import replace
from pathlib import Path

import pytest
from tenacity import stop_after_attempt, wait_fixed

from agent.budget import next_allowance
from agent.cooldown import Cooldown
from agent.errors import ContextTooLong, ProviderBusy, ProviderDown, ProviderRefused, SettingsError, StreamCut
from agent.notices import provider_failed
from agent.prompt import DEFAULT_IDENTITY, stable_head, system_prompt
from agent.retries import DEFAULT_RETRIES, RetryPolicy
from agent.settings import AgentProfile, AgentSettings, McpServer, ModelProfile
from agent.tools.builtin import BUILTIN_NAMES
from agent.tools.registry import matches
from agent.validation import check_settings

POLICY = RetryPolicy(stop=stop_after_attempt(3), wait=wait_fixed(2), longest_wait_s=60)


@pytest.mark.req("AGT-6")
def test_the_allowance_warns_at_seventy_and_ninety_percent_and_ends_at_the_budget():
    seen = [next_allowance(sends, 40) for sends in range(42)]
    assert [a.note for a in seen[:28]] == [None] * 28
    assert all(a.note and a.note.startswith("[Caution") for a in seen[28:36])
    assert all(a.note and a.note.startswith("[Warning") for a in seen[36:40])
    assert [a.tools for a in seen] == ["all"] * 40 + ["none"] * 2


@pytest.mark.req("AGT-7")
@pytest.mark.parametrize(
    ("error", "attempt", "pause_s"),
    [
        (ProviderDown(""), 1, 2),
        (StreamCut(""), 2, 2),
        (ProviderDown(""), 3, None),
        (ProviderBusy(""), 1, 2),
        (ProviderBusy("", retry_after_s=30), 1, 30),
        (ProviderBusy("", retry_after_s=0.1), 1, 2),
        (ProviderBusy("", retry_after_s=61), 1, None),
        (ProviderRefused(""), 1, None),
        (ContextTooLong(""), 1, None),
    ],
)
def test_a_pause_grows_honours_the_provider_and_ends(error, attempt, pause_s):
    assert POLICY.pause_s(error, attempt) == pause_s


def test_the_default_pauses_grow_and_are_bounded():
    pauses = [DEFAULT_RETRIES.pause_s(ProviderDown(""), attempt) for attempt in (1, 2, 3)]
    assert pauses[0] < pauses[1] < 30
    assert pauses[2] is None


@pytest.mark.req("AGT-7")
def test_a_failing_model_rests_longer_each_time_until_it_answers():
    now = 0.0
    rest = Cooldown(first_s=10, longest_s=25, clock=lambda: now)
    for seconds in (10, 20, 25):
        rest.failed()
        assert rest.is_cooling
        now += seconds
        assert not rest.is_cooling
    rest.failed(asked_s=20)
    rest.succeeded()
    assert not rest.is_cooling
    rest.failed(asked_s=15)
    assert rest.until == now + 15


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ProviderBusy("", retry_after_s=90), "asks to wait 90 seconds"),
        (ProviderBusy("", retry_after_s=600), "asks to wait 10 minutes"),
        (ProviderBusy(""), "is busy"),
        (ProviderRefused(""), "refused"),
        (ContextTooLong(""), "/new"),
        (StreamCut(""), "broke off"),
        (ProviderDown(""), "could not be reached"),
    ],
)
def test_each_failure_is_told_in_its_own_words_with_a_reference(error, said: str):
    text = provider_failed(error, "1a2b3c4d")
    assert said in text
    assert text.endswith("(reference 1a2b3c4d)")


@pytest.mark.req("AGT-11")
def test_the_prompt_has_what_stays_first_and_what_changes_last():
    head = stable_head("ada", "You count. ", ["Skills: none"])
    assert head == "Your name is ada.\nYou count.\n\nSkills: none"
    assert system_prompt(head, "Telegram, 12:00") == f"{head}\n\nTelegram, 12:00"
    assert stable_head("ada", " ") == f"Your name is ada.\n{DEFAULT_IDENTITY}"


@pytest.mark.parametrize(
    ("pattern", "tool", "is_meant"),
    [
        ("*", ("time", "now"), True),
        ("time/*", ("time", "get"), True),
        ("time", ("time", "get"), True),
        ("time/get", ("time", "get"), True),
        ("now", ("builtin", "now"), True),
        ("now", ("time", "now"), False),
        ("times", ("time", "get"), False),
        ("TIME/*", ("time", "get"), False),
    ],
)
def test_tool_patterns(pattern: str, tool: tuple[str, str], is_meant: bool):
    assert matches([pattern], *tool) is is_meant


GOOD = AgentSettings(
    agents={"default": AgentProfile(model="demo", tools=("*", "now", "time", "time/*", "t*/x"))},
    models={"demo": ModelProfile(provider="demo")},
    mcp_servers={"time": McpServer(command="x")},
    state_dir=Path("state"),
)


def test_good_settings_pass():
    check_settings(GOOD)


@pytest.mark.req("TOL-1")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (replace(GOOD, agents={}), "agents: at least one agent is needed"),
        (
            replace(GOOD, agents={"a": AgentProfile(model="dmo")}),
            "agents.a.model: there is no 'dmo'; did you mean 'demo'?",
        ),
        (
            replace(GOOD, agents={"a": AgentProfile(tools=("nwo",))}),
            "agents.a.tools: there is no 'nwo'; did you mean 'now'?",
        ),
        (
            replace(GOOD, agents={"a": AgentProfile(tools=("tmie/*",))}),
            "agents.a.tools: there is no 'tmie'; did you mean 'time'?",
        ),
        (
            replace(GOOD, agents={"a": AgentProfile(tools=("builtin/then",))}),
            f"agents.a.tools: there is no 'then'; known: {', '.join(sorted(BUILTIN_NAMES))}",
        ),
        (
            replace(GOOD, models={"demo": ModelProfile(provider="demo", fallback=("gtp",))}),
            "models.demo.fallback: there is no 'gtp'; known: demo",
        ),
        (
            replace(GOOD, models={"demo": ModelProfile(provider="openai", model="gpt-5")}),
            "models.demo.api_key: openai needs a key",
        ),
        (
            replace(GOOD, models={"demo": ModelProfile(provider="openai", api_key="k")}),
            "models.demo.model: say which of openai's models",
        ),
        (
            replace(GOOD, mcp_servers={"time": McpServer()}),
            "mcpServers.time: give either a command or a url",
        ),
    ],
)
def test_a_wrong_name_is_refused_with_its_key_and_the_nearest_right_one(settings, said: str):
    with pytest.raises(SettingsError) as caught:
        check_settings(settings)
    assert str(caught.value) == said


def test_no_secret_is_in_the_settings_own_words():
    profile = ModelProfile(provider="openai", api_key="sk-secret")
    server = McpServer(command="x", env={"KEY": "sekret"}, headers={"Authorization": "Bearer sekret"})
    assert "sekret" not in f"{profile}{server}"
    assert "sk-secret" not in repr(profile)
