"""The adapters' sections: one account or several."""

import pytest
from pydantic import BaseModel

from gateway.config import load_config

pytestmark = pytest.mark.req("ADP-1")


def test_one_mapping_is_one_account(load):
    (account,) = load("telegram: {token: t}").accounts

    assert (account.platform, account.place) == ("telegram", "telegram")
    assert account.settings.token.get_secret_value() == "t"


def test_a_list_is_several_accounts_in_the_order_of_the_table(load):
    config = load("slack: {bot_token: b, app_token: a}\ntelegram: [{token: t1}, {token: t2}]\n")

    assert [account.place for account in config.accounts] == ["telegram[0]", "telegram[1]", "slack"]


def test_a_section_without_enough_to_connect_is_no_account(load):
    config = load("telegram: {streaming: false}\nslack: {bot_token: b}\n")

    assert config.accounts == ()
    assert [account.settings.streaming for account in config.section("telegram")] == [False]


def test_an_entry_of_a_list_without_a_token_or_twice_the_same_is_an_error(problems):
    assert problems("telegram:\n  - token: t\n  - mode: polling\n  - token: t\n") == [
        "config.yaml:3: telegram[1] is an account without a token; set it or remove the entry",
        "config.yaml:4: telegram[2] is the same account as one above; remove it",
    ]


def test_a_platform_of_somebody_else_has_its_own_section(tmp_path):
    class Room(BaseModel):
        enabled: bool = True
        server: str

    (tmp_path / "config.yaml").write_text("rooms: {server: example.test}\naccess: {allow: {rooms: ['*']}}\n")
    config = load_config(path=None, environ={}, sections={"rooms": Room}, folder=tmp_path)

    assert [(account.platform, account.settings.server) for account in config.accounts] == [
        ("rooms", "example.test")
    ]


def test_a_section_that_cannot_be_made_of_defaults_is_no_error_while_unused():
    class Room(BaseModel):
        enabled: bool = True
        server: str

    assert load_config(path=None, environ={}, sections={"rooms": Room}).accounts == ()


def test_an_adapter_cannot_take_the_name_of_a_section_or_hide_whether_it_is_enabled():
    class Settings(BaseModel):
        token: str = ""

    with pytest.raises(ValueError, match="taken by sections of Parley: web"):
        load_config(path=None, environ={}, sections={"web": Settings})
    with pytest.raises(ValueError, match="have no `enabled`: rooms"):
        load_config(path=None, environ={}, sections={"rooms": Settings})
