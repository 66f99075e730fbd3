"""Tasks: how agents hand a conversation to each other.

`calls` are the tools by which an agent asks for it, `machine` is what becomes of that, answered by people, and
`mentions` finds the agent a person speaks to by name. All pure; whoever runs the agents keeps the state.
"""

from agent.tasks.calls import task_fault, task_tools

__all__ = ["task_fault", "task_tools"]
