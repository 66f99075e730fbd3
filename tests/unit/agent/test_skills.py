"""Skills."""

from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.tools.registry import ToolCallContext, ToolResult
from agent.tools.skills import Skill, find_skills, skill_tools, skills_block

pytestmark = pytest.mark.req("AGT-11")

CONTEXT = ToolCallContext(key="k")
BREAD = "---\nname: bread\ndescription: >\n  Bake\n  bread.\n---\nMix, wait, bake.\n"


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, "utf-8")
    return folder


def test_a_folder_is_a_skill_or_holds_some(tmp_path: Path):
    bread = write(tmp_path / "all" / "x", BREAD)
    cake = write(tmp_path / "all" / "cake", "---\ndescription: Bake cake.\n---\n")
    both = (
        Skill(name="cake", description="Bake cake.", folder=cake),
        Skill(name="bread", description="Bake bread.", folder=bread),
    )
    assert find_skills("a", [str(tmp_path / "all")]) == both
    assert find_skills("a", [str(bread)]) == both[1:]


def test_the_prompt_lists_them_and_the_tool_reads_them(tmp_path: Path):
    skills = find_skills("a", [str(write(tmp_path / "bread", BREAD))])
    assert skills_block(skills) == (
        "Skills (read one with load_skill before you do what it is for):\n- bread: Bake bread."
    )


async def test_load_skill_gives_the_whole_text_and_names_what_there_is(tmp_path: Path):
    (load,) = skill_tools(find_skills("a", [str(write(tmp_path / "bread", BREAD))]))
    assert (load.ref, load.default_policy, load.effect) == ("builtin/load_skill", "allow", "read")
    assert await load.run({"name": "bread"}, CONTEXT) == ToolResult(text=BREAD)
    assert await load.run({"name": "../bread"}, CONTEXT) == ToolResult(
        text="there is no skill '../bread'; there are: bread", is_error=True
    )


def test_no_skills_no_words_no_tool():
    assert (skills_block(()), skill_tools(())) == ("", ())


@pytest.mark.parametrize("text", ["", "no front matter", "---\nname: x\n---\n", "---\n[: {\n---\n"])
def test_a_skill_without_a_description_is_refused_by_name(tmp_path: Path, text: str):
    write(tmp_path / "odd", text)
    with pytest.raises(SettingsError, match=r"agents\.a\.skills: odd/SKILL\.md"):
        find_skills("a", [str(tmp_path)])


def test_a_folder_without_skills_and_two_of_one_name_are_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"there is no SKILL\.md"):
        find_skills("a", [str(tmp_path / "none")])
    write(tmp_path / "one", BREAD)
    write(tmp_path / "two", BREAD)
    with pytest.raises(SettingsError, match="two skills are called 'bread'"):
        find_skills("a", [str(tmp_path)])
