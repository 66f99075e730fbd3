"""Ten planted secrets: each is used where it belongs, and is seen nowhere else, with everything logged at DEBUG."""

import io
import json
import logging
from collections.abc import Iterator, Mapping

import pytest
import structlog

from agent.errors import ProviderError
from agent.tools.registry import Tool, ToolCallContext, ToolResult
from gateway.observability import setup_logging
from gateway.redaction import Redactor
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says
from tests.flow.test_grants import choose
from tests.flow.test_trust import everything

pytestmark = pytest.mark.req("ACC-4")

CONFIGURED = {
    "the key of a model": "model-key-Zq81xv02mmLw",
    "a tool server's header": "header-pass-7Hq2kd9s",
    "a tool server's variable": "env-value-0pWm5xT1",
    "the audit log's key": "audit-sign-Yt63bnQ8",
}
SHAPED = {
    "the token of a bot in an address": "123456789:AAFAKEfakeFAKEfakeFAKEfakeFAKEfake000",
    "the key of a provider in an argument": "sk-demo0000000000000000000000000000000000",
    "a bearer in a header": "bearerValue0123456789abcdefXYZ",
    "a password in an address": "not-a-real-password",
    "a password under its name": "hunter2-but-longer",
    "a token in a traceback": "xoxb-0000000000-FAKEfakeFAKEfake",
}
SECRETS = {**CONFIGURED, **SHAPED}
ARGS = {
    "url": "https://api.example.test/bot" + SHAPED["the token of a bot in an address"] + "/getMe",
    "headers": {"Authorization": f"Bearer {SHAPED['a bearer in a header']}"},
    "dsn": f"postgres://app:{SHAPED['a password in an address']}@db.example.test/main",
    "note": "use " + SHAPED["the key of a provider in an argument"],
    "password": SHAPED["a password under its name"],
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that is logged, ours and the libraries'; the logging of before comes back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    yield stream
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture
async def house(house_of: Open, log: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> House:
    async def fail(_args: Mapping[str, object], _context: ToolCallContext) -> ToolResult:
        raise RuntimeError(f"refused: token={SHAPED['a token in a traceback']}")

    house = await house_of(
        models={
            "scripted": {"provider": "scripted", "model": "any", "api_key": CONFIGURED["the key of a model"]}
        },
        mcpServers={
            "far": {
                "url": "http://127.0.0.1:9/mcp",
                "headers": {"X-Odd": CONFIGURED["a tool server's header"]},
            },
            "near": {"command": "/nonexistent/tool", "env": {"ODD": CONFIGURED["a tool server's variable"]}},
        },
        audit={"key": CONFIGURED["the audit log's key"]},
    )
    await house.stop()
    usual = house.lab.tools
    broken = Tool(
        name="lab__break",
        server="lab",
        tool="break",
        description="",
        parameters={"type": "object"},
        run=fail,
        effect="external",
    )
    monkeypatch.setattr("agent.runtime.builtin_tools", lambda: (*usual(), broken))
    await house.start()
    secrets = house.daemon._plan.config.secrets()
    assert set(CONFIGURED.values()) <= set(secrets)
    setup_logging(level="debug", libraries="debug", redactor=Redactor(secrets), stream=log)
    return house


async def test_no_planted_secret_is_seen_where_it_does_not_belong(house: House, log: io.StringIO) -> None:
    ann = house.person()
    failure = ProviderError(f"POST {ARGS['url']}?api_key=" + CONFIGURED["the key of a model"] + " failed")
    house.model.then(
        calls(("lab__count", ARGS), ("lab__break", ARGS)),
        says("that is done"),
        failure,
        failure,
        failure,
        failure,
    )
    ann.says("fetch it")
    await ann.gets_card()
    await ann.presses("Always")
    await ann.presses("Exactly these arguments", await ann.gets("but for what?"))
    await ann.gets("(2 of 2)")
    await choose(ann, "Once")
    await ann.gets("that is done")
    ann.says("once more")
    await ann.gets("reference")
    ann.says("/status")
    await ann.gets("Tools of far")
    await house.quiet()

    logged = log.getvalue()
    stored = [
        line
        for line in (await everything(house)).splitlines()
        # Where the true arguments belong: without them no turn could be rebuilt, nor the model go on.
        if not line.startswith("agent_state ") and "'model_response'" not in line
    ]
    api = json.dumps(
        [
            dict(event.payload)
            for turn in (1, 2)
            for event in (await house.daemon.api.events(turn)).events  # type: ignore[union-attr]
        ]
    )
    seen = {"log": logged, "database": "\n".join(stored), "chat": "\n".join(ann.sees()), "events": api}
    leaks = [
        (place, name) for place, text in seen.items() for name, secret in SECRETS.items() if secret in text
    ]

    assert leaks == []
    assert house.lab.runs == [("count", ARGS)]  # the tool itself got the true ones
    assert "tool.failed" in logged
    assert "Traceback" in logged
