"""The system prompt: identity first, then skills, then the turn's context (pure).

What changes most stands last: providers cache a prompt by its head.
"""

from collections.abc import Sequence

DEFAULT_IDENTITY = "You are a helpful assistant in a chat. Answer in the language of the question."


def stable_head(name: str, instructions: str, blocks: Sequence[str] = ()) -> str:
    """The part of the system prompt that stays the same over all turns of an agent.

    Args:
        name: The agent's name.
        instructions: Its persona from the configuration.
        blocks: Further stable sections (the list of skills).
    """
    identity = instructions.strip() or DEFAULT_IDENTITY
    return "\n\n".join([f"Your name is {name}.\n{identity}", *(b.strip() for b in blocks if b.strip())])


def system_prompt(head: str, context: str) -> str:
    """The whole system prompt of one turn; `context` is one line: platform, chat, speaker, time."""
    return f"{head}\n\n{context}".strip() if context else head
