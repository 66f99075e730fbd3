"""The gateway's messages as the bodies of Discord's requests, its refusals as errors, its settings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from adapters.commands import COMMANDS
from adapters.discord.commands import to_payload
from adapters.discord.errors import to_send_error
from adapters.discord.payloads import NONCE_LIMIT, create_body, edit_body, nonce_of, tokens_in
from adapters.discord.settings import DiscordSettings
from gateway.commands import HELP
from gateway.document import parse, text_document
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, RateLimited, TargetGone
from gateway.messages import Button, OutboundMessage, Target
from tests.simulators.discord.components import read_components
from tests.simulators.discord.interactions import put_commands

pytestmark = pytest.mark.req("ADP-3")

TARGET = Target(platform="discord", account="7", chat_id="100")
NOBODY = {"parse": [], "replied_user": False}


def out(text: str, **details: object) -> OutboundMessage:
    return OutboundMessage(target=TARGET, body=parse(text), idem_key="key-1", **details)


@pytest.mark.req("DLV-7")
def test_a_message_is_sent_with_its_key_and_pings_nobody():
    assert create_body(out("**hi** @everyone", reply_to="899")) == {
        "content": "**hi** @everyone",
        "components": [],
        "allowed_mentions": NOBODY,
        "nonce": "key-1",
        "enforce_nonce": True,
        "message_reference": {"message_id": "899", "fail_if_not_exists": False},
    }


@pytest.mark.req("APR-2")
def test_a_card_has_rows_of_buttons_and_unfolds_no_preview():
    buttons = ((Button(label="Once", token="pl1:a", style="good"), Button(label="Deny", token="pl1:b")),)
    body = edit_body(out("may I?", buttons=buttons))
    assert body == {
        "content": "may I?",
        "components": [
            {
                "type": 1,
                "components": [
                    {"type": 2, "style": 3, "label": "Once", "custom_id": "pl1:a"},
                    {"type": 2, "style": 2, "label": "Deny", "custom_id": "pl1:b"},
                ],
            }
        ],
        "allowed_mentions": NOBODY,
        "flags": 4,
    }
    assert tokens_in(body["components"]) == ("pl1:a", "pl1:b")


def test_a_row_that_is_too_long_goes_on_in_the_next():
    row = tuple(Button(label=str(number), token=f"pl1:{number}") for number in range(7))
    rows = read_components(edit_body(out("x", buttons=(row,)))["components"])
    assert [len(one) for one in rows] == [5, 2]


def test_a_plain_message_has_no_formatting_left():
    assert create_body(out("a **bold** word", plain=True))["content"] == "a bold word"


@given(st.text())
def test_any_key_is_a_nonce_discord_takes(key):
    assert len(nonce_of(key)) <= NONCE_LIMIT
    assert nonce_of(key) == key or len(key) > NONCE_LIMIT


@given(st.sets(st.text(min_size=26, max_size=40), min_size=2))
def test_different_keys_are_different_nonces(keys):
    assert len({nonce_of(key) for key in keys}) == len(keys)


@pytest.mark.req("DLV-9")
@given(st.text(alphabet="ab\n *_`|~<>#@-\\", max_size=200))
def test_content_has_no_white_space_around_it(text):
    content = create_body(OutboundMessage(target=TARGET, body=text_document(text), idem_key="k"))["content"]
    assert content == content.strip()


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (403, {"code": 50007, "message": "Cannot send messages to this user"}, TargetGone),
        (403, {"code": 50001, "message": "Missing Access"}, TargetGone),
        (404, {"code": 10003, "message": "Unknown Channel"}, TargetGone),
        (404, {"code": 10008, "message": "Unknown Message"}, MessageRejected),
        (403, {"code": 50005, "message": "Cannot edit"}, MessageRejected),
        (400, {"code": 50035, "message": "Invalid Form Body", "errors": {"content": {}}}, MessageRejected),
        (413, {}, MessageRejected),
        (401, {"code": 0, "message": "401: Unauthorized"}, NotSent),
        (403, {}, NotSent),
        (500, {}, OutcomeUnknown),
        (503, {"code": 0, "message": "Service Unavailable"}, OutcomeUnknown),
    ],
)
def test_each_refusal_says_what_is_known(status, body, error):
    assert type(to_send_error(status, body, {})) is error


@pytest.mark.parametrize(
    ("body", "headers", "wait_s"),
    [({"retry_after": 1.25}, {"Retry-After": "2"}, 1.25), ({}, {"Retry-After": "30"}, 30.0), ({}, {}, 5.0)],
)
def test_a_rate_limit_says_how_long(body, headers, wait_s):
    error = to_send_error(429, body, headers)
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == wait_s


def test_the_slash_commands_are_those_the_gateway_knows():
    assert [command.name for command in COMMANDS] == list(HELP)


async def test_discord_takes_the_slash_commands(discord_sim):
    payload = [to_payload(command) for command in COMMANDS]
    assert len(put_commands(discord_sim.account, discord_sim.world, payload)) == len(COMMANDS)


@pytest.mark.req("OPS-2")
def test_a_token_begins_with_the_bots_id():
    assert DiscordSettings(token="MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.secret").account == "123456789012345678"
    for wrong in (None, "", "secret", "!!.x.y", "YWJj.x.y"):
        assert DiscordSettings(token=wrong).account == ""


@pytest.mark.parametrize(
    "given_",
    [{"api_base": "discord.com"}, {"gateway_url": "https://x"}, {"tokn": "x"}, {"silence_s": 0}],
)
def test_settings_that_cannot_work_are_refused(given_):
    with pytest.raises(ValidationError):
        DiscordSettings(**given_)
