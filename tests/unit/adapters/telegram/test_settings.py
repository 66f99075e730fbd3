"""The `telegram` section."""

import pytest
from pydantic import ValidationError

from adapters.telegram.settings import TelegramSettings

pytestmark = pytest.mark.req("ADP-2")

TOKEN = "123456789:AAFAKEfakeFAKEfakeFAKEfakeFAKEfake000"


def test_a_token_switches_it_on_and_names_the_account():
    settings = TelegramSettings(token=TOKEN)
    assert (settings.enabled, settings.account) == (True, "123456789")
    assert not TelegramSettings().enabled
    assert not TelegramSettings(token="").enabled


@pytest.mark.parametrize("token", ["no-colon-at-all", "x1:abc", ":abc", "１２:abc"])
def test_of_a_malformed_token_nothing_is_taken_for_the_account(token: str):
    assert TelegramSettings(token=token).account == ""


def test_neither_text_nor_errors_show_the_token():
    assert TOKEN not in repr(TelegramSettings(token=TOKEN))
    with pytest.raises(ValidationError) as caught:
        TelegramSettings(token=[TOKEN])
    assert TOKEN not in str(caught.value)


def test_webhook_mode_needs_an_address_to_give_to_telegram():
    with pytest.raises(
        ValidationError, match="is missing in mode webhook; write the public https:// address"
    ):
        TelegramSettings(token=TOKEN, mode="webhook")
    with pytest.raises(ValidationError, match="must be an https:// address"):
        TelegramSettings(token=TOKEN, mode="webhook", webhook_url="bot.example/telegram")
    address = "https://bot.example/telegram"
    assert TelegramSettings(token=TOKEN, mode="webhook", webhook_url=address).webhook_url == address


@pytest.mark.parametrize("address", ["api.telegram.org", "ftp://x", "http://"])
def test_an_api_base_that_is_no_address_is_refused(address: str):
    with pytest.raises(ValidationError, match="must be an http:// or https:// address"):
        TelegramSettings(api_base=address)


def test_a_trailing_slash_of_the_api_base_does_not_count():
    assert TelegramSettings(api_base="http://127.0.0.1:8081/").api_base == "http://127.0.0.1:8081"


@pytest.mark.parametrize("key", ["poll_timeout_s", "send_timeout_s", "connections"])
def test_no_wait_or_pool_is_unbounded(key: str):
    for value in (0, 100_000):
        with pytest.raises(ValidationError):
            TelegramSettings(**{key: value})
