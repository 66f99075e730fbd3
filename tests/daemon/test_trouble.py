"""What can be wrong around the daemon: one clear line each, the right exit code, and what can go on goes on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.daemon.conftest import Site
from tests.process import DaemonProcess

pytestmark = pytest.mark.timeout(180)

SLOW_S = 90.0
BAD_CONFIG = 78


async def ends(folder: Path, env: dict[str, str], *args: str) -> tuple[int, list[str]]:
    """Run a command to its end; returns the exit code and what it printed, in lines."""
    async with DaemonProcess(folder, env, *args) as process:
        await process.start()
        code = await process.wait()
        return code, process.printed().splitlines()


@pytest.mark.req("OPS-2", "OPS-4")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("access: {alow: {telegram: [1]}}\n", "access.alow is no known key; did you mean access.allow?"),
        ("access: {allow: {telegram: [alice]}}\n", "names are not accepted"),
        ("turns: [1\n", "no valid YAML"),
        ("agents: {default: {model: nonsense}}\n", "nonsense"),
        ("telegram: {token: '${NOWHERE_SET}'}\n", "NOWHERE_SET"),
        ("queue: {lane_size: 5}\nqueue: {lane_size: 6}\n", "queue"),
    ],
    ids=["misspelt key", "display name", "broken YAML", "unknown model", "unset variable", "key twice"],
)
async def test_a_wrong_configuration_is_one_line_and_78(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    code, (line,) = await ends(tmp_path, {}, "run")
    assert code == BAD_CONFIG
    assert line.startswith("config.yaml:")
    assert said in line


@pytest.mark.req("OPS-2")
async def test_a_configuration_that_cannot_be_read_is_one_line_and_78(tmp_path: Path) -> None:
    code, (line,) = await ends(tmp_path, {}, "run", "-c", "missing.yaml")
    assert code == BAD_CONFIG
    assert line.startswith("missing.yaml: cannot be read")


@pytest.mark.req("OPS-2")
async def test_config_check_says_whether_all_is_right(tmp_path: Path) -> None:
    right = await ends(tmp_path, {}, "config", "check")
    assert (right[0], right[1][0].partition(":")[0]) == (0, "configuration is right")
    (tmp_path / "config.yaml").write_text("trns: {}\n")
    (tmp_path / "daemon.log").unlink()
    wrong = await ends(tmp_path, {}, "config", "check")
    assert wrong[0] == BAD_CONFIG
    assert "did you mean turns?" in wrong[1][0]


@pytest.mark.req("OPS-5", "ADP-2")
async def test_a_refused_token_is_said_with_what_to_do(site: Site) -> None:
    async with site.daemon(
        PARLEY_TELEGRAM__TOKEN="7000000001:AAFwrongwrongwrongwrongwrongwrongwro"
    ) as daemon:
        await daemon.start()
        await daemon.wait_printed("adapter.refused")
        assert await daemon.stop() == 0
    assert "check telegram.token" in daemon.printed()
    assert "AAFwrong" not in daemon.printed()


@pytest.mark.req("OPS-5", "ADP-2")
async def test_an_unreachable_platform_is_tried_again_until_it_answers(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    async with site.daemon() as daemon:

        async def down() -> None:
            await daemon.start()
            await daemon.wait_printed("adapter.lost")

        await site.telegram.interrupt(down)
        site.telegram.say(ada, "anybody there?")
        await site.telegram.wait_for_replies(ada, 1, SLOW_S)
        assert await daemon.stop() == 0
    assert "cannot reach Telegram" in daemon.printed()


@pytest.mark.req("TOL-3")
async def test_a_broken_tool_server_is_named_and_stops_nobody(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    (site.folder / "config.yaml").write_text(
        "mcpServers:\n  missing: {command: no-such-program}\n  silent: {command: cat}\n"
        "tools: {connect_timeout_s: 2}\n"
    )
    async with site.daemon() as daemon:
        await daemon.start()
        site.telegram.say(ada, "hello")
        await site.telegram.wait_for_replies(ada, 1, SLOW_S)
        site.telegram.say(ada, "/status")
        (_, status) = await site.telegram.wait_for_replies(ada, 2, SLOW_S)
        assert await daemon.stop() == 0
    assert site.telegram.replies(ada)[0].text == "echo: hello"
    assert "Tools of missing: the program 'no-such-program' was not found" in status.text
    assert "Tools of silent:" in status.text


@pytest.mark.req("OPS-5", "OPS-6")
async def test_a_second_daemon_on_one_state_directory_says_so_and_stops(site: Site, tmp_path: Path) -> None:
    async with site.daemon() as first, site.daemon() as second:
        await first.start()
        await first.wait_printed("daemon.started")
        await second.start()
        assert await second.wait() == 1
        assert await first.stop() == 0
    assert "is in use by another parley process" in first.printed()


@pytest.mark.req("OPS-5")
async def test_a_second_daemon_for_one_bot_says_so_in_one_line_and_stops(site: Site, tmp_path: Path) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    (tmp_path / "beside").mkdir()
    async with site.daemon() as first, DaemonProcess(tmp_path / "beside", site.env) as second:
        await first.start()
        await first.wait_printed("adapter.online")
        connected = len(site.telegram.calls("getMe"))
        await second.start()
        assert await second.wait() == 1
        assert len(site.telegram.calls("getMe")) == connected  # it did not even connect
        site.telegram.say(ada, "hello")
        (answer,) = await site.telegram.wait_for_replies(ada, 1, SLOW_S)
        assert await first.stop() == 0
    assert answer.text == "echo: hello"
    said = [line for line in second.printed().splitlines() if "another parley process" in line]
    assert said[-1] == (
        "telegram: another parley process on this machine serves this account: stop it, or give each an account"
        " of its own"
    )
    assert site.telegram.token not in second.printed()


@pytest.mark.req("OPS-6")
async def test_a_damaged_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "parley.db").write_bytes(b"this is no database" * 100)
    code, (line,) = await ends(tmp_path, {}, "chat", "--once", "hello")
    assert code == 1
    assert "damaged" in line
    assert "restore a backup" in line


@pytest.mark.req("OPS-6")
async def test_a_database_held_by_another_process_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with closing(sqlite3.connect(tmp_path / "state" / "parley.db", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("BEGIN IMMEDIATE")
        code, (line,) = await ends(tmp_path, {}, "chat", "--once", "hello")
    assert code == 1
    assert "another process holds the database" in line


@pytest.mark.req("OPS-6")
async def test_a_state_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in its place")
    code, (line,) = await ends(tmp_path, {}, "chat", "--once", "hello")
    assert code == BAD_CONFIG
    assert "is no folder; name a folder" in line
