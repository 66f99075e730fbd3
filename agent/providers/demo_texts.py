"""What the demo model says: help, made from the tools there are, and one long answer in all of Markdown."""

import json
from collections.abc import Mapping, Sequence

from agent.provider import ToolSpec

_SHOWN_TOOLS = 12


def help_text(tools: Sequence[ToolSpec]) -> str:
    """What can be tried, with a ready-made line for each tool."""
    lines = [
        "I am the **demo model**: offline, free, and always the same. Try one of these:",
        "",
        "- `long`: a long answer with headings, a list, code and a table",
        "- `think`: I think aloud before I answer",
        "- anything else: I say it back to you",
    ]
    if tools:
        lines += ["", "I can also use tools; most of them ask you first:", ""]
        lines += [
            f"- `use {_short_name(t, tools)} {_example(t.parameters)}`: {_gist(t)}"
            for t in tools[:_SHOWN_TOOLS]
        ]
        if len(tools) > _SHOWN_TOOLS:
            lines.append(f"- … and {len(tools) - _SHOWN_TOOLS} more")
        lines += ["", "One `use` per line makes one call; several lines make a queue."]
    return "\n".join(lines)


def _short_name(spec: ToolSpec, tools: Sequence[ToolSpec]) -> str:
    tool = spec.ref.rpartition("/")[2]
    is_unique = sum(other.ref.rpartition("/")[2] == tool for other in tools) == 1
    return tool if is_unique and " " not in tool else spec.name


def _gist(spec: ToolSpec) -> str:
    return (spec.description.strip().splitlines() or ["(no description)"])[0].rstrip(".")[:100]


def _example(parameters: Mapping[str, object]) -> str:
    properties = parameters.get("properties")
    required = parameters.get("required", ())
    if not isinstance(properties, Mapping) or not isinstance(required, Sequence):
        return "{}"
    example = {name: _example_value(schema) for name, schema in properties.items() if name in required}
    return json.dumps(example, ensure_ascii=False)


def _example_value(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return "…"
    examples = schema.get("examples") or schema.get("enum")
    if isinstance(examples, Sequence) and examples:
        return examples[0]
    return {"integer": 6, "number": 1.5, "boolean": True, "array": [], "object": {}}.get(
        str(schema.get("type")), "…"
    )


THOUGHT = (
    "The user wants me to think. I weigh the question from the left, then from the right. "
    "Both sides agree, which is rare. I check the sum once more before I speak."
)

_SECTION = """\
## {number}. {title}

A message travels through *four* rooms before it is answered, and **each of them can be named**. {title} is
one. Numbers like 2*3*4 stay as they are, and so do file_names_with_underscores. Read [the
manual](https://example.org/manual) 📖.

- It keeps its order, even when many people write at once 🙂
- It is written down *before* it is acknowledged
  - so that a crash loses nothing
  - and a repeated delivery does nothing twice
- It is answered in the place it came from

```python
def {name}(message: str) -> str:
    # Indentation has to survive the journey.
    if not message:
        return "nothing to do"
    return message.upper()
```

| step | who | takes |
|------|-----|------:|
| read | adapter | 1 ms |
| keep | store | 2 ms |
| answer | agent | 800 ms |

> Nothing is lost; at worst it is late.

"""

_TITLES = ("Intake", "The queue", "The agent", "Tools and approvals", "Delivery", "What happens at night")

LONG_ANSWER = (
    "# How a message travels 🚀\n\n"
    + "".join(
        _SECTION.format(number=number, title=title, name=title.lower().replace(" ", "_"))
        for number, title in enumerate(_TITLES, 1)
    )
    + "That is the whole journey. 👋"
)
