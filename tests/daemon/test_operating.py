"""A running daemon as its operator meets it: commands, a joined terminal, signals, a restart."""

import asyncio
import json
import os
import signal

import pytest

from tests.daemon.conftest import Site
from tests.simulators.model import Answer

pytestmark = pytest.mark.timeout(180)

SLOW_S = 90.0
NO_DAEMON = 3
RESTART = 75


@pytest.mark.req("OPS-7", "ADP-9", "TOL-3")
async def test_commands_ask_the_daemon_and_terminals_join_it(site: Site) -> None:
    socket = site.folder / "state" / "control.sock"
    (site.folder / "config.yaml").write_text("mcpServers: {gone: {command: no-such-program-anywhere}}\n")
    async with site.daemon() as daemon:
        await daemon.start()
        await daemon.wait_printed("daemon.serving")
        await daemon.wait_printed("mcp.broken")
        status, doctor, once, piped = await asyncio.gather(
            site.command("status", "--json"),
            site.command("doctor", "--json"),
            site.command("chat", "--once", "plum"),
            site.command("chat", typed="one\ntwo\n"),
        )
        listed, turns = await asyncio.gather(site.command("sessions"), site.command("turns"))
        assert await daemon.stop() == 0
    found = json.loads(status.out)
    assert [(part["name"], part["trouble"]) for part in found["vitals"]["adapters"]] == [("telegram[0]", "")]
    findings = {(one["part"], one["name"]): one for one in json.loads(doctor.out)}
    assert doctor.code == 1
    assert {key for key, one in findings.items() if one["state"] == "failed"} == {
        ("tools of gone", "tool server")
    }
    assert "no-such-program-anywhere" in findings["tools of gone", "tool server"]["detail"]
    assert findings["daemon", "adapter telegram[0]"]["detail"] == "online"
    assert findings["telegram", "token"]["state"] == findings["machine", "clock"]["state"] == "ok"
    assert (once.code, once.out, once.err) == (0, "echo: plum\n", "")
    assert (piped.code, piped.out, piped.err) == (0, "echo: one\necho: two\n", "")
    # Without a terminal a list is lines of cells, its columns first.
    head, *rows = listed.out.splitlines()
    assert head.split("\t") == ["id", "where", "turns", "last active", "title"]
    assert all(row.split("\t")[1].startswith("terminal:script-") for row in rows)
    assert (turns.code, turns.out) == (0, "No turn is open.\n")
    assert not socket.exists()
    assert daemon.printed().count("control.terminal_joined") == 2


@pytest.mark.req("OPS-7", "ADP-9")
async def test_without_a_daemon_each_command_says_so_and_the_lists_come_from_the_database(site: Site) -> None:
    nothing, no_list = await asyncio.gather(site.command("status"), site.command("turns"))
    assert (nothing.code, nothing.out) == (NO_DAEMON, "")
    assert "No daemon runs here" in nothing.err
    assert (no_list.code, no_list.out) == (1, "")
    assert "there is no database" in no_list.err

    alone = await site.command("chat", "--once", "plum")
    assert (alone.code, alone.out) == (0, "echo: plum\n")
    listed, retried = await asyncio.gather(site.command("sessions"), site.command("outbox", "--retry", "1"))
    assert listed.out.splitlines()[1].split("\t")[-1] == "plum"
    assert "this is what its database says" in listed.err
    assert (retried.code, retried.out) == (1, "")
    assert "only a daemon sends" in retried.err


@pytest.mark.req("OPS-4", "ACC-2")
async def test_restart_ends_with_75_and_the_new_process_tells_once_that_it_is_done(site: Site) -> None:
    """C51a: the process ends before it confirms the update, so the platform repeats it."""
    ada = site.telegram.add_user(111, name="Ada")
    async with site.daemon(PARLEY_ACCESS__ADMINS__TELEGRAM="111") as daemon:
        await daemon.start()
        site.telegram.say(ada, "/restart")
        assert await daemon.wait(SLOW_S) == RESTART
        await daemon.start()
        site.telegram.say(ada, "plum")
        await site.telegram.wait_for(
            lambda: any("echo: plum" in (message.text or "") for message in site.telegram.replies(ada)),
            SLOW_S,
        )
        assert await daemon.stop() == 0
    assert [message.text for message in site.telegram.replies(ada)] == [
        "I am restarting, and tell you here when I am back.",
        "I am back: the restart is done.",
        "echo: plum",
    ]


@pytest.mark.req("OPS-4", "OPS-12")
async def test_a_second_sigterm_ends_it_at_once_and_leaves_no_socket(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    site.model.script(Answer(text="never", hold_after=1), when="wait")
    async with site.daemon() as daemon:
        await daemon.start()
        site.telegram.say(ada, "wait")
        await site.model.wait_for(lambda: site.model.bodies, SLOW_S)
        daemon.signal(signal.SIGTERM)
        await daemon.wait_printed("daemon.stopping")
        daemon.signal(signal.SIGTERM)
        assert await daemon.wait() == 128 + signal.SIGTERM
    assert not (site.folder / "state" / "control.sock").exists()


@pytest.mark.req("OPS-4", "OPS-9")
async def test_sighup_reads_the_log_section_again_and_a_broken_stderr_harms_nothing(site: Site) -> None:
    ada = site.telegram.add_user(111, name="Ada")
    read, write = os.pipe()
    async with site.daemon() as daemon:
        await daemon.start(stderr=write)
        os.close(write)
        site.telegram.say(ada, "one")
        await site.telegram.wait_for_replies(ada, 1, SLOW_S)
        (site.folder / "config.yaml").write_text("log: {level: debug}\n")
        daemon.signal(signal.SIGHUP)
        printed = await asyncio.to_thread(_read_until, read, b"shown_from")
        assert b"shown_from=debug" in printed
        (site.folder / "config.yaml").write_text("log: {level: loud}\n")
        daemon.signal(signal.SIGHUP)
        await asyncio.to_thread(_read_until, read, b"config.not_reloaded")
        os.close(read)  # from now on every line it logs is a broken pipe
        site.telegram.say(ada, "two")
        _, second = await site.telegram.wait_for_replies(ada, 2, SLOW_S)
        assert await daemon.stop() == 0
    assert second.text == "echo: two"


def _read_until(pipe: int, words: bytes) -> bytes:
    read = b""
    while words not in read:
        chunk = os.read(pipe, 65_536)
        assert chunk, read
        read += chunk
    return read
