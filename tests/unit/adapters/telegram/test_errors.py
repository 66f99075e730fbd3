"""What Telegram's refusals mean."""

from datetime import timedelta

import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.errors import sending, to_adapter_error, to_send_error
from adapters.telegram.transport import ConnectError
from gateway.errors import (
    AccessRefused,
    ConnectionLost,
    MessageRejected,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    SendError,
    TargetGone,
)

pytestmark = pytest.mark.req("ADP-2")


@pytest.mark.parametrize(
    ("raised", "meant"),
    [
        (ConnectError("ClientConnectorError"), NotSent),
        (TimedOut("SocketTimeoutError"), OutcomeUnknown),
        (NetworkError("ServerDisconnectedError"), OutcomeUnknown),
        (NetworkError("Bad Gateway"), OutcomeUnknown),
        (NetworkError("Request Entity Too Large (413)"), MessageRejected),
        (NetworkError("Internal Server Error (500)"), OutcomeUnknown),
        (TelegramError("Invalid server response"), OutcomeUnknown),
        (InvalidToken("Unauthorized"), NotSent),
        (Forbidden("Forbidden: bot was blocked by the user"), TargetGone),
        (Forbidden("Forbidden: bot was kicked from the supergroup chat"), TargetGone),
        (Forbidden("Forbidden: user is deactivated"), TargetGone),
        (BadRequest("Chat not found"), TargetGone),
        (BadRequest("CHAT_WRITE_FORBIDDEN"), TargetGone),
        (BadRequest("Not enough rights to send text messages to the chat"), TargetGone),
    ],
)
def test_each_failure_says_what_is_known_of_the_message(raised: TelegramError, meant: type[SendError]):
    assert type(to_send_error(raised)) is meant


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("Can't parse entities: unexpected end of name token at byte offset 9", True),
        ("Can't parse entities in message text", True),
        ("ENTITY_BOUNDS_INVALID", True),
        ("Entities_too_long", True),
        ("Message thread not found", False),
        ("Button_data_invalid", False),
        ("Message is too long", False),
        ("Message can't be edited", False),
        ("Message to edit not found", False),
    ],
)
def test_a_refused_message_says_whether_plain_text_may_pass(text: str, markup: bool):
    error = to_send_error(BadRequest(text))
    assert isinstance(error, MessageRejected)
    assert error.markup == markup


@pytest.mark.parametrize("wait", [30, timedelta(seconds=30)])
def test_a_flood_names_the_wait(wait):
    error = to_send_error(RetryAfter(wait))
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 30


def test_a_429_without_a_wait_is_a_rate_limit_all_the_same():
    assert isinstance(to_send_error(NetworkError("Too Many Requests (429)")), RateLimited)


def test_a_group_that_moved_names_its_new_id():
    error = to_send_error(ChatMigrated(-1005))
    assert isinstance(error, TargetGone)
    assert error.moved_to == "-1005"


async def fail(error: Exception) -> None:
    raise error


async def test_the_librarys_own_error_is_not_carried_along():
    with pytest.raises(NotSent) as caught:
        await sending(fail(InvalidToken("The token `1:secret` was rejected by the server.")))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert "secret" not in str(caught.value)


async def test_errors_that_are_not_telegrams_pass():
    with pytest.raises(ZeroDivisionError):
        await sending(fail(ZeroDivisionError()))


@pytest.mark.parametrize(
    ("raised", "meant", "words"),
    [
        (InvalidToken("x"), AccessRefused, "Telegram refuses the token of bot 7: check telegram.token"),
        (
            Conflict("Conflict: terminated by other getUpdates request"),
            ConnectionLost,
            "another program polls",
        ),
        (ConnectError("ClientConnectorError"), ConnectionLost, "cannot reach Telegram at http://localhost:1"),
        (TimedOut("SocketTimeoutError"), ConnectionLost, "did not answer"),
        (NetworkError("Bad Gateway"), ConnectionLost, "the connection to Telegram broke: Bad Gateway"),
        (TelegramError("odd"), ConnectionLost, "Telegram answered: odd"),
    ],
)
def test_a_lost_connection_is_told_in_a_persons_words(raised, meant, words):
    error = to_adapter_error(raised, "7", "http://localhost:1")
    assert type(error) is meant
    assert words in str(error)


def test_with_a_server_of_ones_own_a_refused_token_points_to_its_address_too():
    own = to_adapter_error(InvalidToken("x"), "7", "http://localhost:1")
    assert str(own).endswith("and telegram.api_base (http://localhost:1)")
    assert "api_base" not in str(to_adapter_error(InvalidToken("x"), "7", "https://api.telegram.org"))
