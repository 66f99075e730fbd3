"""The platforms' own tokens, in addresses, headers and handshakes of the real libraries: seen nowhere, at DEBUG."""

import io
from contextlib import AsyncExitStack

import pytest

from gateway.observability import setup_logging
from gateway.redaction import Redactor
from tests.contract.stages.discord import DiscordStage
from tests.contract.stages.slack import SlackHttpStage, SlackStage
from tests.contract.stages.telegram import TelegramStage, TelegramWebhookStage
from tests.flow.conftest import Open
from tests.flow.test_secrets import log
from tests.flow.test_trust import everything
from tests.flow.test_ways_in_platforms import online

__all__ = ["log"]

pytestmark = pytest.mark.req("ACC-4")

STAGES = {
    "by connections of ours": (TelegramStage, DiscordStage, SlackStage),
    "by requests of theirs": (TelegramWebhookStage, SlackHttpStage),
}


@pytest.mark.parametrize("how", STAGES)
async def test_no_token_of_a_platform_is_logged_stored_or_shown(
    house_of: Open, log: io.StringIO, how: str
) -> None:
    async with AsyncExitStack() as stack:
        stages = [await stack.enter_async_context(make()) for make in STAGES[how]]
        tokens = {
            f"{stage.adapter.platform} {name}": getattr(stage.sim, name)
            for stage in stages
            for name in ("token", "app_token")
            if hasattr(stage.sim, name)
        }
        for stage in stages:
            if stage.adapter.platform == "slack":
                tokens["slack signing secret"] = stage.sim.account.signing_secret
        setup_logging(level="debug", libraries="debug", redactor=Redactor(tuple(tokens.values())), stream=log)
        house = await house_of(
            others=[stage.adapter for stage in stages],
            access={"allow": {stage.adapter.platform: ["*"] for stage in stages}},
        )
        await online(house)
        for stage in stages:
            stage.limit_rate(1)
            stage.say("good day")
        for stage in stages:
            stage.expect_refusal()
            await stage.sim.wait_for(lambda stage=stage: stage.shown("dm"))
        await house.quiet()
        seen = {
            "log": log.getvalue(),
            "database": await everything(house),
            "status": repr(await house.daemon.api.status()),
            "objects": repr([stage.adapter for stage in stages]),
        }
        await house.stop()
    seen["log"] = log.getvalue()

    assert [
        (place, name) for place, text in seen.items() for name, token in tokens.items() if token in text
    ] == []
    assert len(tokens) >= 3
    for stage in stages:
        assert stage.adapter.platform in seen["log"]
