"""What is no answer of Slack's at all."""

import pytest
from aiohttp import web

from gateway.errors import ConnectionLost, OutcomeUnknown
from tests.contract.stages.base import RecordingInbox
from tests.simulators.server import LoopbackServer, make_app
from tests.unit.adapters.slack.conftest import make, to

pytestmark = pytest.mark.req("ADP-4")

ANSWERS = {
    "a login page": {"text": "<html>Sign in</html>", "content_type": "text/html"},
    "cut JSON": {"text": '{"ok": tr', "content_type": "application/json"},
    "empty": {"text": "", "content_type": "application/json"},
    "a list": {"text": "[1]", "content_type": "application/json"},
    "plain words": {"text": "try later", "content_type": "text/plain"},
    "a proxy's error": {"status": 502, "text": "<html>Bad gateway</html>", "content_type": "text/html"},
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_it_leaves_the_outcome_unknown_and_the_connection_lost(sim, ada, answer):
    async def say(request):
        return web.Response(**answer)

    server = await LoopbackServer(make_app([web.route("*", "/api/{method}", say)])).start()
    adapter = make(sim, api_base=server.url + "/api")
    try:
        with pytest.raises(OutcomeUnknown):
            await adapter.send(to(sim, ada, "hello"))
        with pytest.raises(ConnectionLost):
            await adapter.run(RecordingInbox())
    finally:
        await server.stop()
