"""The system prompt: identity first, then skills, what is remembered of the person, the turn's context (pure).

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


def system_prompt(head: str, context: str, *, memory: str = "", found: str = "") -> str:
    """The whole system prompt of one turn.

    Args:
        head: The same over all turns of the agent.
        context: One line: platform, chat, speaker, time.
        memory: What is known of the person; changes now and then.
        found: What is remembered that fits the question.
    """
    return "\n\n".join(part for part in (head, memory, context, found) if part).strip()
