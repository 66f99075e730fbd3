"""Asks a model's service for its list of models: whether it is there, takes the key, and has the model.

For `doctor`, before anybody spends a token. Plain HTTP, so that no vendor's library is loaded for it. The lists:
https://platform.openai.com/docs/api-reference/models/list, https://docs.anthropic.com/en/api/models-list,
https://ai.google.dev/api/models (2026); services that speak OpenAI's protocol have it mostly, but not always.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import httpx2

from agent.settings import ModelProfile

LOOK_S = 15.0
"""How long one service may take."""

Reach = Literal["ready", "unlisted", "refused", "unreachable", "unclear"]

_LISTS: Mapping[str, tuple[str, str]] = {
    "openai": ("https://api.openai.com/v1", "/models"),
    "anthropic": ("https://api.anthropic.com", "/v1/models?limit=1000"),
    "google": ("https://generativelanguage.googleapis.com", "/v1beta/models?pageSize=1000"),
}
"""Kind of provider → its own address, used where no `base_url` is given, and the path of its list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """A configured model's service.

    `ready`: there, and the model is listed (or the service has no list); `unlisted`: there without this model;
    `refused`: it does not take the key; `unclear`: it answers something else. `detail` holds no key.
    """

    name: str
    reach: Reach
    detail: str


async def look_at_models(models: Mapping[str, ModelProfile]) -> tuple[ModelState, ...]:
    """Ask all of them side by side; those that need no service are left out."""
    asked = {name: profile for name, profile in models.items() if profile.provider in _LISTS}
    async with httpx2.AsyncClient(timeout=LOOK_S) as client, asyncio.TaskGroup() as group:
        tasks = [group.create_task(_look(client, name, profile)) for name, profile in asked.items()]
    return tuple(task.result() for task in tasks)


async def _look(client: httpx2.AsyncClient, name: str, profile: ModelProfile) -> ModelState:
    own, path = _LISTS[profile.provider]
    address = (profile.base_url or own).rstrip("/")
    try:
        answer = await client.get(address + path, headers=_headers(profile))
        body = answer.json() if answer.is_success else None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return ModelState(name=name, reach="unreachable", detail=f"{address}: {type(error).__name__}")
    except ValueError:
        body = None
    if answer.status_code in {401, 403}:
        return ModelState(
            name=name, reach="refused", detail=f"{address} refuses the key ({answer.status_code})"
        )
    if answer.status_code in {404, 405, 501}:
        return ModelState(name=name, reach="ready", detail=f"{address} answers, and lists no models")
    listed = _names(body)
    if not listed:
        return ModelState(name=name, reach="unclear", detail=f"{address} answers {answer.status_code}")
    if profile.model in listed:
        return ModelState(name=name, reach="ready", detail=f"{profile.model} at {address}")
    near = get_close_matches(profile.model, listed, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return ModelState(name=name, reach="unlisted", detail=f"{address} lists no {profile.model}{hint}")


def _headers(profile: ModelProfile) -> dict[str, str]:
    key = profile.api_key
    if not key:
        return {}
    match profile.provider:
        case "anthropic":
            return {"x-api-key": key, "anthropic-version": "2023-06-01"}
        case "google":
            return {"x-goog-api-key": key}
        case _:
            return {"Authorization": f"Bearer {key}"}


def _names(body: Any) -> list[str]:
    """The models of a list; [] if it is none."""
    if not isinstance(body, dict):
        return []
    listed = body.get("data", body.get("models"))
    if not isinstance(listed, list):
        return []
    names = [str(one.get("id", one.get("name", ""))) for one in listed if isinstance(one, dict)]
    return [name.removeprefix("models/") for name in names if name]
