"""Requests to people: approvals, task cards and questions. One desk settles them all.

`states` is what an answer makes of a request, `offers` and `grants` what a button allows, `faces` how a request of any
kind looks (`cards`, `task_cards`, `questions`), `policy` which calls ask at all (all pure); `desk` opens and settles.
The rows are in `gateway.store`.
"""

from gateway.requests.cards import Prompt, PromptCall
from gateway.requests.desk import Desk
from gateway.requests.questions import Question
from gateway.requests.states import Actor
from gateway.requests.task_cards import TaskPrompt

__all__ = ["Actor", "Desk", "Prompt", "PromptCall", "Question", "TaskPrompt"]
