"""Files on their way to Slack, where it is more than the contract asks."""

import pytest

from adapters.slack.files import FILE_LIMIT_BYTES
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown
from gateway.messages import OutboundFile
from tests.contract.stages.base import RecordingInbox, Running
from tests.simulators.faults import Drop, Refuse
from tests.unit.adapters.slack.conftest import make, to

pytestmark = pytest.mark.req("ADP-4", "ADP-8", "DLV-8")

NOTES = OutboundFile(name="notes.md", data=b"# Notes\n", mime_type="text/markdown")


def shown_files(sim, ada) -> list[tuple[str, bytes]]:
    return [(file.name, file.content) for message in sim.replies(ada) for file in message.files]


@pytest.mark.parametrize("fault", [Drop(), Drop(applied=True), Refuse(status=503)])
async def test_what_breaks_before_the_last_step_was_not_seen_and_may_be_tried_again(sim, ada, running, fault):
    sim.fail(fault, "files.getUploadURLExternal")
    with pytest.raises(NotSent):
        await running.adapter.send_file(to(sim, ada, "here", file=NOTES))
    await running.adapter.send_file(to(sim, ada, "here", file=NOTES))
    assert shown_files(sim, ada) == [(NOTES.name, NOTES.data)]


async def test_without_the_scope_nothing_is_tried_and_the_adapter_says_so(sim, ada, inbox):
    sim.account.scopes = sim.account.scopes - {"files:write"}
    running = Running(make(sim), inbox)
    await running.start()
    assert running.adapter.capabilities.file_limit_bytes == 0
    await running.stop()


async def test_a_scope_that_goes_missing_refuses_the_file_and_is_remembered(sim, ada, running):
    assert running.adapter.capabilities.file_limit_bytes == FILE_LIMIT_BYTES
    sim.account.scopes = sim.account.scopes - {"files:write"}
    with pytest.raises(MessageRejected):
        await running.adapter.send_file(to(sim, ada, "here", file=NOTES))
    assert running.adapter.capabilities.file_limit_bytes == 0


@pytest.mark.req("DLV-7")
async def test_after_a_restart_a_file_is_found_by_name_and_size(sim, ada, inbox):
    first = Running(make(sim), inbox)
    await first.start()
    message = to(sim, ada, "here", file=NOTES)
    sim.lose_answer(method="files.completeUploadExternal")
    with pytest.raises(OutcomeUnknown):
        await first.adapter.send_file(message)
    await first.stop()
    sim.say(ada, "mine", file=(NOTES.name, NOTES.data))  # another's is not ours

    second = Running(make(sim), RecordingInbox())
    await second.start()
    found = await second.adapter.find_sent(message)
    other = OutboundFile(name=NOTES.name, data=b"other bytes")
    assert found is not None
    assert found.message_id == sim.replies(ada)[0].ts
    assert await second.adapter.find_sent(to(sim, ada, "here", file=other, idem_key="other")) is None
    await second.stop()


async def test_nobody_is_notified_by_a_caption(sim, general, running):
    await running.adapter.send_file(to(sim, general, "<!channel> @here", file=NOTES))
    assert sim.pings == {}
