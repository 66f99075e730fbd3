"""Requests to people: approvals now, later task cards and questions. One desk settles them all.

`cards` is how a request looks (pure), `desk` opens and settles; the rows are `gateway.store.requests`.
"""

from gateway.requests.cards import Prompt, PromptCall
from gateway.requests.desk import Actor, Desk

__all__ = ["Actor", "Desk", "Prompt", "PromptCall"]
