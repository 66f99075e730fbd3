"""What comes in by webhook: its secret checked, stored, and only then answered with 200."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from adapters import listening
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.parse import ALLOWED_UPDATES
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.webhook import SECRET_HEADER, secret_token
from gateway.errors import ConnectionLost, StoreUnavailable
from tests.contract.stages.base import RecordingInbox, Running, free_port
from tests.simulators.telegram import TelegramSimulator

pytestmark = pytest.mark.req("ADP-2")


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    async with TelegramSimulator() as sim:
        yield sim


@pytest.fixture
def inbox() -> RecordingInbox:
    return RecordingInbox()


@pytest.fixture
def address() -> str:
    return f"http://127.0.0.1:{free_port()}/telegram"


def make(sim: TelegramSimulator, address: str, **settings: object) -> TelegramAdapter:
    port = int(address.rpartition(":")[2].partition("/")[0])
    given = {"mode": "webhook", "http_port": port, "webhook_url": address} | settings
    return TelegramAdapter(TelegramSettings(token=sim.token, api_base=sim.url, **given))


@pytest.fixture
async def running(sim: TelegramSimulator, inbox: RecordingInbox, address: str) -> AsyncIterator[Running]:
    running = Running(make(sim, address), inbox)
    await running.start()
    yield running
    await running.stop()


async def post(address: str, body: bytes, secret: str | None) -> int:
    headers = {} if secret is None else {SECRET_HEADER: secret}
    async with ClientSession() as session, session.post(address, data=body, headers=headers) as answer:
        return answer.status


async def test_telegram_is_told_the_address_a_secret_and_what_to_send(
    sim: TelegramSimulator, running: Running, address: str
):
    account = sim.account
    assert (account.webhook_url, account.webhook_secret) == (address, secret_token(sim.token))
    assert account.updates.allowed == set(ALLOWED_UPDATES)
    assert not sim.calls("getUpdates")
    assert secret_token(sim.token) != secret_token(sim.token + "x")


@pytest.mark.parametrize("secret", [None, "", "wrong", "ünsinn"])
async def test_who_does_not_know_the_secret_is_refused_and_nothing_is_read(
    running: Running, inbox: RecordingInbox, address: str, secret: str | None
):
    body = b'{"update_id": 1, "message": {}}'
    assert (await post(address, body, secret), inbox.received) == (401, [])


async def test_a_body_that_is_too_long_or_no_update_is_refused(
    sim: TelegramSimulator, running: Running, inbox: RecordingInbox, address: str
):
    secret = secret_token(sim.token)
    assert await post(address, b"x" * (listening.BODY_BYTES + 1), secret) == 413
    for body in (b"", b"no json", b"[]", b"\xff"):
        assert await post(address, body, secret) == 400
    assert await post(address + "/elsewhere", b"{}", secret) == 404
    assert inbox.received == []


async def test_an_update_that_cannot_be_read_is_taken_since_it_would_come_for_ever(
    sim: TelegramSimulator, running: Running, inbox: RecordingInbox, address: str
):
    assert await post(address, b'{"update_id": 5, "message": {"chat": 7}}', secret_token(sim.token)) == 200
    assert inbox.received == []


@pytest.mark.req("DLV-1")
async def test_what_came_while_nobody_listened_is_delivered_afterwards_and_once(
    sim: TelegramSimulator, running: Running, inbox: RecordingInbox
):
    ada = sim.add_user(name="Ada")
    await running.stop()
    sim.say(ada, "anybody there?")
    await sim.wait_for(lambda: sim.account.webhook_error)
    await running.start()
    await inbox.wait_message("anybody there?")
    await sim.wait_for(lambda: not sim.account.updates.pending)
    assert len(inbox.received) == 1


@pytest.mark.req("DLV-1")
async def test_what_could_not_be_stored_is_answered_with_503(
    sim: TelegramSimulator, running: Running, inbox: RecordingInbox
):
    inbox.refusals.append(StoreUnavailable("the disk is full"))
    sim.say(sim.add_user(name="Ada"), "keep me")
    with pytest.raises(StoreUnavailable):
        await running.ended()
    assert sim.account.webhook_error.endswith(("503 Service Unavailable", "Connection refused"))
    assert len(sim.account.updates.pending) == 1


async def test_a_webhook_that_somebody_else_changed_is_noticed(
    sim: TelegramSimulator, inbox: RecordingInbox, address: str
):
    running = Running(make(sim, address, webhook_check_s=0.01), inbox)
    await running.start()
    sim.account.webhook_url = "http://127.0.0.1:9/elsewhere"
    with pytest.raises(ConnectionLost, match="another program changed the webhook"):
        await running.ended()


async def test_a_port_that_is_taken_is_named(
    sim: TelegramSimulator, running: Running, inbox: RecordingInbox, address: str
):
    with pytest.raises(ConnectionLost, match=r"cannot listen on 127\.0\.0\.1"):
        await Running(make(sim, address), inbox).start()


async def test_polling_again_takes_the_webhook_away_and_loses_nothing(
    sim: TelegramSimulator, running: Running, inbox: RecordingInbox
):
    ada = sim.add_user(name="Ada")
    await running.stop()
    sim.say(ada, "still here")
    settings = TelegramSettings(token=sim.token, api_base=sim.url, poll_timeout_s=5)
    polling = Running(TelegramAdapter(settings), inbox)
    await polling.start()
    await inbox.wait_message("still here")
    await polling.stop()
    assert (sim.account.webhook_url, len(inbox.received)) == ("", 1)


@pytest.mark.req("OPS-7")
async def test_the_doctor_compares_address_and_failures(
    sim: TelegramSimulator, running: Running, address: str
):
    def webhook(checkup: object) -> tuple[str, str]:
        found = next(one for one in checkup.findings if one.name == "webhook")
        return found.state, found.detail

    adapter = make(sim, address)
    assert webhook(await adapter.check()) == ("ok", "0 updates wait")
    sim.account.webhook_error = "Connection timed out"
    assert webhook(await adapter.check()) == (
        "warning",
        "Telegram's last failure to deliver: Connection timed out",
    )
    sim.account.webhook_url = ""
    assert webhook(await adapter.check()) == ("warning", "at Telegram it is not set")
