import pytest
from pydantic import ValidationError

from adapters.slack.settings import SlackSettings

pytestmark = pytest.mark.req("ADP-4")


def test_nothing_is_enabled_without_a_bot_token():
    assert not SlackSettings().enabled
    assert not SlackSettings(bot_token="").enabled
    assert SlackSettings(bot_token="xoxb-1").enabled


def test_the_address_ends_with_a_slash():
    assert SlackSettings(api_base="http://127.0.0.1:1/api").api_base == "http://127.0.0.1:1/api/"


@pytest.mark.parametrize(
    "wrong",
    [
        {"api_base": "slack.com/api"},
        {"mode": "rtm"},
        {"http_path": "slack"},
        {"command": "parley"},
        {"bot_tokn": "x"},
        {"http_port": 70_000},
    ],
)
def test_what_is_wrong_is_refused(wrong):
    with pytest.raises(ValidationError):
        SlackSettings(**wrong)


def test_no_secret_is_shown():
    settings = SlackSettings(bot_token="xoxb-secret", app_token="xapp-secret", signing_secret="secret")
    assert "secret" not in str(settings.model_dump_json()).replace("signing_secret", "")
