"""Tests stay on this machine."""

import asyncio
import socket

import pytest
from openai import AsyncOpenAI

from tests.loopback import NetworkBlocked, is_local


@pytest.mark.req("AGT-10")
async def test_a_real_model_cannot_be_reached_from_a_test():
    client = AsyncOpenAI(api_key="not-a-key", max_retries=0)

    with pytest.raises(Exception) as caught:
        await client.models.list()
    await client.close()

    causes = [caught.value]
    while causes[-1].__cause__ or causes[-1].__context__:
        causes.append(causes[-1].__cause__ or causes[-1].__context__)
    assert any(isinstance(cause, NetworkBlocked) for cause in causes)


def test_an_address_beyond_this_machine_is_refused_before_a_packet_leaves():
    with pytest.raises(NetworkBlocked), socket.socket() as plain:
        plain.connect(("192.0.2.1", 80))
    with pytest.raises(NetworkBlocked):
        socket.create_connection(("example.com", 80))


async def test_a_server_on_loopback_is_reached():
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "localhost", 0)
    async with server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.close()


@pytest.mark.parametrize("host", ["telegram.invalid", "db.example.test"])
def test_a_name_that_cannot_exist_fails_like_one_that_does_not(host):
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo(host, 80)


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), (None, True), ("10.0.0.1", False), ("api.openai.com", False)],
)
def test_what_counts_as_this_machine(host, local):
    assert is_local(host) is local
