"""What all simulators share: waiting, scripted faults, control over HTTP, independence of what they test."""

import ast
import asyncio
import sys
from pathlib import Path

import httpx
import pytest
from telegram import Bot

from tests.simulators import model, telegram
from tests.simulators.changes import Changes
from tests.simulators.faults import Delay, Drop, FaultScript, Hold, Refuse, parse_fault

pytestmark = pytest.mark.req("ADP-10")

FOLDER = Path(telegram.__file__).parents[1]


async def test_a_wait_looks_only_when_something_happened_and_tells_what_was_there():
    changes, looks = Changes(), []
    waiting = asyncio.create_task(changes.until(lambda: looks.append(1) or len(looks) > 2, 5))
    await asyncio.sleep(0)
    assert len(looks) == 1
    for _ in range(2):
        changes.notify()
        await asyncio.sleep(0)
    assert await waiting is True
    with pytest.raises(TimeoutError, match="nothing yet"):
        await changes.until(lambda: False, 0.001, lambda: "nothing yet")


def test_faults_are_used_up_in_order_each_by_the_requests_it_is_for():
    script = FaultScript()
    script.add(Refuse(status=429), method="sendMessage", chat=5, times=2)
    script.add(Drop(applied=True))
    assert script.take("sendMessage", 6, "1") == [Drop(applied=True)]
    assert script.take("SENDMESSAGE", "5", "1") == [Refuse(status=429)]
    assert script.take("sendChatAction", 5, "1") == []
    assert script.take("sendMessage", 5, "1") == [Refuse(status=429)]
    assert script.take("sendMessage", 5, "1") == []


def test_a_delay_and_what_follows_are_taken_together():
    script = FaultScript()
    script.add(Delay(seconds=1))
    script.add(Hold())
    script.add(Refuse(status=500))
    script.add(Refuse(status=501))
    assert script.take("x", None, "") == [Delay(seconds=1), Hold(), Refuse(status=500)]
    assert script.take("x", None, "") == [Refuse(status=501)]


def test_faults_come_from_json_strictly():
    assert parse_fault("drop", {"applied": True}) == Drop(applied=True)
    with pytest.raises(ValueError, match="unknown fault 'explode'"):
        parse_fault("explode", {})
    with pytest.raises(ValueError, match="unexpected keyword argument 'stauts'"):
        parse_fault("refuse", {"stauts": 429})


async def act(client, sim, action, **arguments):
    answer = await client.post(f"{sim.url}/sim/{action}", json=arguments)
    body = answer.json()
    assert answer.status_code == 200, body
    return body["result"]


async def test_telegram_is_driven_over_http(telegram_sim):
    token, base = telegram_sim.token, telegram_sim.url
    async with httpx.AsyncClient() as client, Bot(token, base_url=base + "/bot") as bot:
        said = await act(client, telegram_sim, "say", chat=123, text="hello")
        assert [update.message.text for update in await bot.get_updates()] == ["hello"]
        buttons = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
        sent = await bot.send_message(123, "*sure?*", parse_mode="MarkdownV2", reply_markup=buttons)
        [reply] = await act(client, telegram_sim, "wait", chat=123, replies=1, text="sure")
        assert {key: reply[key] for key in ("message_id", "text", "runs", "buttons", "earlier")} == {
            "message_id": sent.message_id,
            "text": "sure?",
            "runs": [{"text": "sure?", "styles": ["bold"]}],
            "buttons": [[{"text": "Yes", "data": "y", "url": None}]],
            "earlier": [],
        }
        press = await act(client, telegram_sim, "press", chat=123, message_id=sent.message_id, button="Yes")
        await bot.answer_callback_query(press["id"], "ok")
        assert (await act(client, telegram_sim, "wait", press=press["id"]))["answer"]["text"] == "ok"
        await act(client, telegram_sim, "fault", kind="refuse", status=500, method="getMe")
        assert [one["message_id"] for one in await act(client, telegram_sim, "messages", chat=123)] == [
            said["message_id"],
            sent.message_id,
        ]
        counters = await act(client, telegram_sim, "counters")
        assert (counters["calls"]["sendMessage"], counters["refusals"], counters["violations"]) == (1, {}, {})


async def test_the_model_is_driven_over_http(model_sim):
    ask = {"model": "sim", "messages": [{"role": "user", "content": "use it"}]}
    async with httpx.AsyncClient() as client:
        calls = [{"name": "echo", "arguments": {"x": 1}}]
        await act(client, model_sim, "script", answer={"text": ["a", "b"], "calls": calls}, when="use")
        await act(client, model_sim, "fault", kind="refuse", status=503, when="never")
        reply = (await client.post(f"{model_sim.base_url}/chat/completions", json=ask)).json()["choices"][0]
        assert (reply["message"]["content"], reply["finish_reason"]) == ("ab", "tool_calls")
        assert reply["message"]["tool_calls"][0]["function"] == {"name": "echo", "arguments": '{"x": 1}'}
        assert await act(client, model_sim, "wait", requests=1) == 1
        assert await act(client, model_sim, "bodies") == [ask]
        assert (await act(client, model_sim, "counters"))["unused"] == 1


async def test_wrong_control_requests_say_why(telegram_sim):
    async with httpx.AsyncClient() as client:
        for path, body, status, reason in [
            ("nonsense", {}, 404, "no such action"),
            ("say", {"text": "x"}, 400, "missing a required argument: 'chat'"),
            ("messages", {"chat": 9}, 400, "no chat 9"),
            ("wait", {"method": "getMe", "timeout_s": 0.001}, 408, "not so within"),
        ]:
            answer = await client.post(f"{telegram_sim.url}/sim/{path}", json=body)
            assert answer.status_code == status
            assert reason in answer.json()["error"]
        assert "say" in (await client.get(f"{telegram_sim.url}/sim")).json()


def test_simulators_import_nothing_of_what_they_test():
    for file in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & {"gateway", "adapters", "agent", "tests"}, (
                file
            )


async def test_all_run_as_a_process_that_prints_where_and_takes_typed_lines():
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "tests.simulators",
            "both",
            "discord",
            "slack",
            "--users",
            "5,6",
            "--chat",
            "5",
        ),
        cwd=FOLDER.parents[1],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with asyncio.timeout(30), httpx.AsyncClient() as client:
        name, url, token = (await process.stdout.readline()).decode().split()
        lines = [(await process.stdout.readline()).decode().split() for _ in range(3)]
        assert [(name, 3), *((line[0], len(line)) for line in lines)] == [
            ("telegram", 3),
            ("model", 2),
            ("discord", 3),
            ("slack", 5),
        ]
        process.stdin.write(b"hello\n")
        updates = await client.post(f"{url}/bot{token}/getUpdates", data={"timeout": 20}, timeout=25)
        assert updates.json()["result"][0]["message"]["text"] == "hello"
        keyboard = {"inline_keyboard": [[{"text": "Go", "callback_data": "go"}]]}
        sent = {"chat_id": 5, "text": "hi", "reply_markup": keyboard}
        assert (await client.post(f"{url}/bot{token}/sendMessage", json=sent)).json()["ok"]
        assert (await process.stdout.readline()).decode() == "[2] hi\n"
        assert (await process.stdout.readline()).decode() == "    !1 Go\n"
        process.stdin.write(b"!1\n")
        press = await client.post(
            f"{url}/bot{token}/getUpdates", data={"timeout": 20, "offset": -1}, timeout=25
        )
        assert press.json()["result"][0]["callback_query"]["data"] == "go"
        process.stdin.write_eof()
        assert await process.wait() == 0


def test_the_packages_offer_what_tests_need():
    assert {"TelegramSimulator", "styled_runs", "styles_of"} <= set(telegram.__all__)
    assert {"ModelSimulator", "Answer", "call_tool"} <= set(model.__all__)
