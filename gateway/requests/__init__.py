"""Requests to people: approvals now, later task cards and questions. One desk settles them all.

`states` is what an answer makes of a request, `offers` and `grants` what a button allows, `cards` how a request
looks, `policy` which calls ask at all (all five pure); `desk` opens and settles. The rows are in `gateway.store`.
"""

from gateway.requests.cards import Prompt, PromptCall
from gateway.requests.desk import Desk
from gateway.requests.states import Actor

__all__ = ["Actor", "Desk", "Prompt", "PromptCall"]
