"""Requests over aiohttp, against real sockets."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from telegram import Bot, InputFile
from telegram.error import NetworkError, TimedOut
from telegram.request import RequestData

from adapters.telegram.transport import AiohttpRequest, ConnectError

pytestmark = pytest.mark.req("ADP-2")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def server(handler: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def request(**changes: float) -> AsyncIterator[AiohttpRequest]:
    settings = {"connections": 4, "connect_timeout_s": 5, "read_timeout_s": 5, "queue_timeout_s": 5}
    made = AiohttpRequest(**(settings | changes))
    await made.initialize()
    try:
        yield made
    finally:
        await made.shutdown()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def test_parameters_go_as_json_with_their_structure():
    seen: list[tuple[str, object]] = []

    async def handler(got: web.Request) -> web.Response:
        seen.append((got.path, await got.json()))
        return web.json_response({"ok": True, "result": True})

    async with server(handler) as url, request() as sending:
        bot = Bot("1:x", base_url=f"{url}/bot", request=sending, get_updates_request=sending)
        await bot.set_my_commands([("help", "Grüße 👋")])
    assert seen == [("/bot1:x/setMyCommands", {"commands": [{"command": "help", "description": "Grüße 👋"}]})]


async def test_files_go_as_a_form():
    seen: dict[str, object] = {}

    async def handler(got: web.Request) -> web.Response:
        form = await got.post()
        seen.update(
            {name: value if isinstance(value, str) else value.file.read() for name, value in form.items()}
        )
        message = {"message_id": 1, "date": 1, "chat": {"id": 5, "type": "private"}}
        return web.json_response({"ok": True, "result": message})

    async with server(handler) as url, request() as sending:
        bot = Bot("1:x", base_url=f"{url}/bot", request=sending, get_updates_request=sending)
        await bot.send_document(5, InputFile(b"content", filename="a.txt"), caption="look")
    assert b"content" in seen.values()
    assert (seen["chat_id"], seen["caption"]) == ("5", "look")


async def test_the_answer_is_its_status_and_body():
    async def handler(got: web.Request) -> web.Response:
        return web.Response(status=418, body=b"\x00tea")

    async with server(handler) as url, request() as sending:
        assert await sending.do_request(f"{url}/x", "POST", RequestData()) == (418, b"\x00tea")


async def test_no_listener_means_certainly_not_sent():
    async with request() as sending:
        with pytest.raises(ConnectError):
            await sending.do_request(f"http://127.0.0.1:{free_port()}/bot1:secret/x", "POST", RequestData())


async def test_a_closed_pool_means_certainly_not_sent():
    async with request() as sending:
        await sending.shutdown()
        with pytest.raises(ConnectError):
            await sending.do_request("http://127.0.0.1:1/x", "POST", RequestData())


async def test_no_answer_in_time_leaves_it_open():
    release = asyncio.Event()

    async def handler(got: web.Request) -> web.Response:
        await release.wait()
        return web.Response()

    async with server(handler) as url, request(read_timeout_s=0.1) as sending:
        with pytest.raises(TimedOut) as caught:
            await sending.do_request(f"{url}/bot1:secret/x", "POST", RequestData())
        release.set()
    assert not isinstance(caught.value, ConnectError)


async def test_a_cut_connection_leaves_it_open_and_is_not_tried_again():
    calls = 0

    async def handler(got: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        assert got.transport is not None
        got.transport.abort()
        return web.Response()

    async with server(handler) as url, request() as sending:
        with pytest.raises(NetworkError) as caught:
            await sending.do_request(f"{url}/bot1:secret/x", "POST", RequestData())
    assert not isinstance(caught.value, ConnectError)
    assert calls == 1


async def test_a_queue_for_a_free_connection_that_is_too_long_means_not_sent():
    release, arrived = asyncio.Event(), asyncio.Event()
    calls = 0

    async def handler(got: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        arrived.set()
        await release.wait()
        return web.Response()

    limits = {"connections": 1, "connect_timeout_s": 0.1, "queue_timeout_s": 0.1}
    async with server(handler) as url, request(**limits) as sending:
        first = asyncio.create_task(sending.do_request(f"{url}/x", "POST", RequestData()))
        await arrived.wait()
        with pytest.raises(ConnectError):
            await sending.do_request(f"{url}/bot1:secret/x", "POST", RequestData())
        release.set()
        assert (await first)[0] == 200
    assert calls == 1


async def test_no_error_carries_the_address():
    async with request() as sending:
        with pytest.raises(ConnectError) as caught:
            await sending.do_request(f"http://127.0.0.1:{free_port()}/bot1:secret/x", "POST", RequestData())
    assert "secret" not in repr(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


async def test_a_proxy_of_the_environment_is_used_unless_the_host_is_excepted(
    monkeypatch: pytest.MonkeyPatch,
):
    seen: list[str] = []

    async def handler(got: web.Request) -> web.Response:
        seen.append(str(got.url))
        return web.Response(body=json.dumps({"ok": True}).encode())

    async with server(handler) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("no_proxy", "excepted.example")
        async with request() as sending:
            await sending.do_request("http://telegram.example/x", "POST", RequestData())
            assert sending._proxy("http://excepted.example/x") is None
    assert seen == ["http://telegram.example/x"]
