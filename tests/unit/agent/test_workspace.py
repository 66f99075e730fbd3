"""A person's files: theirs alone, and no path, link or pipe leads out or hangs."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ports import Who
from agent.tools.registry import ToolCallContext, ToolResult
from agent.tools.workspace import (
    MOST_BYTES,
    MOST_LISTED,
    list_files,
    read_file,
    workspace_of,
    workspace_tools,
)

pytestmark = pytest.mark.req("TOL-1", "ACC-5")

ANN = Who(user="m:1", session_id=1, platform="m")
BOB = Who(user="m:2", session_id=2, platform="m")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Ann's folder, beside a secret of somebody else's."""
    (tmp_path / "secret.txt").write_text("secret")
    root = workspace_of(tmp_path, "m:1")
    (root / "deep" / "er").mkdir(parents=True)
    (root / "notes.txt").write_text("buy milk")
    (root / "deep" / "er" / "list.txt").write_text("1 2 3")
    return root


def test_files_are_listed_with_their_sizes_and_read(root: Path) -> None:
    assert list_files(root) == "deep/er/list.txt (5 bytes)\nnotes.txt (8 bytes)"
    assert list_files(root, "deep/er") == "deep/er/list.txt (5 bytes)"
    assert (read_file(root, "notes.txt"), read_file(root, "./deep//er/list.txt")) == ("buy milk", "1 2 3")


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "/etc/passwd",
        "deep/../../secret.txt",
        "link.txt",
        "away/secret.txt",
        "deep",
        "",
        "\0",
        "pipe",
    ],
)
def test_nothing_leads_out_and_nothing_hangs(root: Path, path: str) -> None:
    (root / "link.txt").symlink_to("../secret.txt")
    (root / "away").symlink_to("..")
    os.mkfifo(root / "pipe")
    with pytest.raises(ValueError, match=r"no file|no path|path is needed"):
        read_file(root, path)
    assert "secret" not in list_files(root)
    with pytest.raises(ValueError, match=r"no folder|no path"):
        list_files(root, "away")


@given(path=st.text(alphabet="./\\~%\0 aé\ud800", max_size=20))
def test_no_path_reads_anything_but_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    root = tmp_path_factory.getbasetemp() / "workspace"
    root.mkdir(exist_ok=True)
    (root / "a").write_text("mine")
    with suppress(ValueError):
        assert read_file(root, path) == "mine"


def test_long_and_many_files_are_bounded(root: Path) -> None:
    (root / "long.txt").write_bytes(b"x" * (MOST_BYTES + 1))
    (root / "binary").write_bytes(b"\0\1")
    assert read_file(root, "long.txt").endswith("x\n[… only the first 1,000,000 bytes]")
    with pytest.raises(ValueError, match="is no text"):
        read_file(root, "binary")
    for number in range(MOST_LISTED + 5):
        (root / f"{number}.txt").touch()
    assert len(list_files(root).splitlines()) == MOST_LISTED + 1


@given(one=st.text(max_size=200), other=st.text(max_size=200))
def test_different_people_have_different_folders_inside_the_one_for_all(one: str, other: str) -> None:
    folders = [workspace_of(Path("/w"), f"m:{each}") for each in (one, other)]
    assert (folders[0] == folders[1]) == (one == other)
    assert all(folder.parent == Path("/w") and len(folder.name) <= 255 for folder in folders)


async def test_each_person_sees_their_own_folder_and_a_group_sees_none(tmp_path: Path, root: Path) -> None:
    listing, reading = workspace_tools(tmp_path)
    assert (listing.default_policy, reading.default_policy) == ("allow", "allow")

    async def read(who: Who | None) -> ToolResult:
        return await reading.run({"path": "notes.txt"}, ToolCallContext(key="k", who=who))

    group = Who(user="m:1", session_id=3, platform="m", is_alone=False)
    assert await read(ANN) == ToolResult(text="buy milk")
    assert [(await read(who)).is_error for who in (BOB, group, None)] == [True, True, True]
    assert await listing.run({}, ToolCallContext(key="k", who=BOB)) == ToolResult(text="There are no files.")
