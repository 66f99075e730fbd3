from collections.abc import AsyncIterator

import pytest

from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from gateway.document import text_document
from gateway.messages import OutboundMessage, Target
from tests.contract.stages.base import RecordingInbox, Running
from tests.simulators.slack import Channel, Message, SlackSimulator, User


@pytest.fixture
async def sim() -> AsyncIterator[SlackSimulator]:
    async with SlackSimulator() as sim:
        yield sim


@pytest.fixture
def ada(sim: SlackSimulator) -> User:
    return sim.add_user(name="Ada")


@pytest.fixture
def general(sim: SlackSimulator, ada: User) -> Channel:
    return sim.add_channel("general", [ada])


@pytest.fixture
def inbox() -> RecordingInbox:
    return RecordingInbox()


@pytest.fixture
async def running(sim: SlackSimulator, inbox: RecordingInbox) -> AsyncIterator[Running]:
    running = Running(make(sim), inbox)
    await running.start()
    yield running
    await running.stop()


def make(sim: SlackSimulator, **settings: object) -> SlackAdapter:
    given = {"bot_token": sim.token, "app_token": sim.app_token, "api_base": sim.api_url}
    return SlackAdapter(SlackSettings(**(given | settings)))


def to(sim: SlackSimulator, where: User | Channel, body: object, **details: object) -> OutboundMessage:
    thread = details.pop("thread", None)
    return OutboundMessage(
        target=Target(
            platform="slack",
            account=sim.bot_id,
            chat_id=sim.channel(where).id,
            thread_id=thread.ts if isinstance(thread, Message) else None,
        ),
        body=text_document(body) if isinstance(body, str) else body,
        **({"idem_key": "k"} | details),
    )
