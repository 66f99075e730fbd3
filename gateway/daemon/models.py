"""How the services of the configured models are, in the gateway's words."""

from agent.providers.listing import Reach, look_at_models
from gateway.adapter import Condition, Finding
from gateway.config import Config
from gateway.daemon.settings import agent_settings

_WORDS: dict[Reach, tuple[Condition, str]] = {
    "ready": ("ok", ""),
    "unlisted": ("warning", "correct its name in models.{}.model, unless the service knows it all the same"),
    "refused": ("failed", "set models.{}.api_key to a key that is valid there"),
    "unreachable": ("failed", "see that models.{}.base_url is right and can be reached from this machine"),
    "unclear": ("warning", "see that models.{}.base_url leads to a service of this provider's kind"),
}


async def look_at_model_services(config: Config) -> tuple[Finding, ...]:
    """A finding for each model that some agent may be answered by; no token is spent."""
    found = await look_at_models(agent_settings(config, demo_delay_s=0).models)
    return tuple(
        Finding(name=one.name, state=state, detail=one.detail, fix=fix.format(one.name))
        for one in found
        for state, fix in (_WORDS[one.reach],)
    )
