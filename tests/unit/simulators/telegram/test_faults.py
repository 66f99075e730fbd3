"""The simulated Telegram as the real python-telegram-bot sees it: what goes wrong, as scripted and by its own rules."""

import asyncio

import httpx
import pytest
from telegram import Bot
from telegram.error import BadRequest, Conflict, InvalidToken, NetworkError, RetryAfter

from tests.simulators.faults import Delay, Drop, Hold, Refuse
from tests.simulators.telegram.errors import ApiError
from tests.simulators.telegram.flood import FloodLimit, Rate

pytestmark = pytest.mark.req("ADP-10")


async def test_a_flood_answers_429_with_the_wait_and_applies_nothing(telegram_sim, bot, ada):
    telegram_sim.flood(ada, retry_after_s=7, times=2)
    for _ in range(2):
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(ada.id, "x")
        assert caught.value.retry_after == 7
    await bot.send_message(ada.id, "through")
    assert [shown.text for shown in telegram_sim.replies(ada)] == ["through"]
    assert [call.status for call in telegram_sim.calls("sendMessage")] == [429, 429, 200]
    assert not telegram_sim.refusals  # scripted ones are none of the client's doing


async def test_a_fault_is_for_its_chat_alone(telegram_sim, bot, ada):
    bob = telegram_sim.add_user(102, "Bob")
    telegram_sim.flood(ada)
    await bot.send_message(bob.id, "hi Bob")
    with pytest.raises(RetryAfter):
        await bot.send_message(ada.id, "hi Ada")


async def test_a_lost_answer_has_its_effect_and_a_lost_request_has_none(telegram_sim, bot, ada):
    telegram_sim.lose_answer(ada)
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "arrived")
    telegram_sim.fail(Drop(), chat=ada)
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "vanished")
    assert [shown.text for shown in telegram_sim.replies(ada)] == ["arrived"]
    assert [call.status for call in telegram_sim.calls("sendMessage")] == [0, 0]


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        (
            Refuse(status=400, text="can't parse entities: scripted"),
            BadRequest,
            "Can't parse entities: scripted",
        ),
        (Refuse(status=500), NetworkError, "Internal Server Error"),
        (Refuse(status=502, text="Bad Gateway"), NetworkError, "Bad Gateway"),
    ],
)
async def test_a_scripted_refusal_has_its_status_and_words(telegram_sim, bot, ada, fault, error, text):
    telegram_sim.fail(fault)
    with pytest.raises(error, match=text):
        await bot.send_message(ada.id, "x")


async def test_polls_can_fail_too(telegram_sim, bot, ada):
    telegram_sim.conflict()
    telegram_sim.fail(Refuse(status=500), "getUpdates")
    with pytest.raises(Conflict):
        await bot.get_updates()
    with pytest.raises(NetworkError):
        await bot.get_updates()
    telegram_sim.say(ada, "after the storm")
    assert len(await bot.get_updates()) == 1


async def test_a_held_request_waits_for_its_release_while_others_go_on(telegram_sim, bot, ada):
    bob = telegram_sim.add_user(102, "Bob")
    telegram_sim.fail(Hold(name="ada"), chat=ada)
    held = asyncio.create_task(bot.send_message(ada.id, "late"))
    await telegram_sim.wait_for(lambda: telegram_sim.calls("sendMessage"))
    await bot.send_message(bob.id, "early")
    assert telegram_sim.replies(ada) == []
    telegram_sim.faults.release("ada")
    await held
    assert [shown.text for shown in telegram_sim.replies(ada)] == ["late"]


async def test_a_request_can_be_applied_long_before_its_answer(telegram_sim, bot, ada):
    telegram_sim.fail(Hold(applied=True))
    held = asyncio.create_task(bot.send_message(ada.id, "seen already"))
    await telegram_sim.wait_for_replies(ada, 1)
    assert not held.done()
    telegram_sim.faults.release()
    await held


async def test_a_delay_may_end_in_a_refusal(telegram_sim, bot, ada):
    telegram_sim.fail(Delay(seconds=0.001))
    telegram_sim.flood(ada)
    with pytest.raises(RetryAfter):
        await bot.send_message(ada.id, "x")
    assert telegram_sim.faults.plans == []


async def test_a_download_can_break_too(telegram_sim, bot, ada):
    telegram_sim.say(ada, "", file=("document", "a.txt", b"abc"))
    [update] = await bot.get_updates()
    file = await update.message.document.get_file()
    telegram_sim.fail(Drop(), "downloadFile")
    with pytest.raises(NetworkError):
        await file.download_as_bytearray()
    assert await file.download_as_bytearray() == b"abc"


async def test_a_client_that_hangs_up_is_noticed(telegram_sim, bot, ada):
    telegram_sim.fail(Hold())
    with pytest.raises(NetworkError):
        await bot.send_message(ada.id, "x", read_timeout=0.05)
    call = await telegram_sim.wait_for(
        lambda: next((c for c in telegram_sim.calls("sendMessage") if c.error), None)
    )
    assert (call.status, call.error) == (0, "client hung up")


async def test_a_wrong_token_is_unauthorized(telegram_sim):
    with pytest.raises(InvalidToken):
        await Bot("123:wrong", base_url=telegram_sim.url + "/bot").initialize()


async def test_an_unknown_method_is_not_found_and_all_request_forms_are_read(telegram_sim, ada):
    base = f"{telegram_sim.url}/bot{telegram_sim.token}"
    async with httpx.AsyncClient() as client:
        unknown = await client.post(f"{base}/sendSmell")
        assert (unknown.status_code, unknown.json()) == (
            404,
            {"ok": False, "error_code": 404, "description": "Not Found: method not found"},
        )
        await client.get(f"{base}/sendmessage", params={"chat_id": ada.id, "text": "query"})
        await client.post(f"{base}/sendMessage", data={"chat_id": ada.id, "text": "form"})
        await client.post(f"{base}/sendMessage", json={"chat_id": ada.id, "text": "json"})
        await client.post(f"{base}/sendMessage", data={"chat_id": ada.id, "text": "parts"}, files={"x": b"y"})
    assert [shown.text for shown in telegram_sim.replies(ada)] == ["query", "form", "json", "parts"]


def test_a_flood_limit_allows_a_burst_then_a_steady_rate():
    now = [100.0]
    limit = FloodLimit(clock=lambda: now[0], private=Rate(burst=2, per_s=0.5))
    limit.spend("sendMessage", "5")
    limit.spend("sendMessage", "5")
    with pytest.raises(ApiError) as caught:
        limit.spend("editMessageText", "5")
    assert caught.value.parameters == {"retry_after": 2}
    limit.spend("sendMessage", "6")  # another chat
    limit.spend("getUpdates", "5")  # costs nothing
    now[0] += 2
    limit.spend("sendMessage", "5")


async def test_too_fast_is_refused_when_the_limits_are_on(telegram_sim, bot, ada):
    telegram_sim.limit_speed(private=Rate(burst=1, per_s=0.01))
    await bot.send_message(ada.id, "one")
    with pytest.raises(RetryAfter):
        await bot.send_message(ada.id, "two")
    [(reason, number)] = telegram_sim.refusals.items()
    assert reason.startswith("Too Many Requests: retry after")
    assert number == 1
