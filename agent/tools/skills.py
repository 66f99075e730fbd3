"""Skills: folders with a `SKILL.md` that tell an agent how to do something, read only when it is needed.

The system prompt lists names and descriptions; the whole text comes through the tool `load_skill`. The front matter
(`name`, `description` between two lines of `---`) is the common format of agent skills.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from agent.errors import SettingsError
from agent.tools.registry import Tool, function_tool

_FILE = "SKILL.md"
_DESCRIPTION_LENGTH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill; `folder` holds its `SKILL.md` and whatever that speaks of."""

    name: str
    description: str
    folder: Path


def find_skills(agent: str, folders: Iterable[str]) -> tuple[Skill, ...]:
    """The skills in these folders: each is one itself, or holds folders that are.

    Raises:
        SettingsError: A folder has no skill, a skill cannot be read, or two have one name.
    """
    found: dict[str, Skill] = {}
    for folder in folders:
        here = Path(folder).expanduser()
        files = [here / _FILE] if (here / _FILE).is_file() else sorted(here.glob(f"*/{_FILE}"))
        if not files:
            raise SettingsError(
                f"agents.{agent}.skills: there is no {_FILE} in {folder}, nor one folder below"
            )
        for file in files:
            skill = _read(agent, file)
            if found.setdefault(skill.name, skill) is not skill:
                raise SettingsError(f"agents.{agent}.skills: two skills are called {skill.name!r}")
    return tuple(found.values())


def skills_block(skills: Sequence[Skill]) -> str:
    """The list for the system prompt; empty without skills."""
    if not skills:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills]
    return "\n".join(["Skills (read one with load_skill before you do what it is for):", *lines])


def skill_tools(skills: Sequence[Skill]) -> tuple[Tool, ...]:
    """`load_skill` for an agent that has skills."""
    if not skills:
        return ()
    by_name = {skill.name: skill for skill in skills}

    def load_skill(name: str) -> str:
        """Read a skill's instructions."""
        skill = by_name.get(name)
        if skill is None:
            raise ValueError(f"there is no skill {name!r}; there are: {', '.join(by_name)}")
        return (skill.folder / _FILE).read_text("utf-8", errors="replace")

    return (function_tool(load_skill, default_policy="allow", effect="read"),)


def _read(agent: str, file: Path) -> Skill:
    key = f"agents.{agent}.skills: {file.parent.name}/{_FILE}"
    try:
        text = file.read_text("utf-8")
        head = text.removeprefix("---\n").partition("\n---")[0] if text.startswith("---\n") else ""
        fields = yaml.safe_load(head) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{key} cannot be read: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("description"), str):
        raise SettingsError(f"{key} needs a description between two lines of ---")
    name = str(fields.get("name") or file.parent.name)
    description = " ".join(fields["description"].split())[:_DESCRIPTION_LENGTH]
    return Skill(name=name, description=description, folder=file.parent)
