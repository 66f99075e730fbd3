"""The simulated Discord's REST interface, rule by rule, asked with bare requests."""

import aiohttp
import pytest

from tests.simulators.faults import Drop, Refuse
from tests.simulators.fixtures import discord_sim

__all__ = ["discord_sim"]

pytestmark = pytest.mark.req("ADP-10")


class Api:
    def __init__(self, sim, session: aiohttp.ClientSession) -> None:
        self.sim, self._session = sim, session

    async def ask(self, verb: str, path: str, body: object = None, token: str = "") -> tuple[int, object]:
        headers = {"Authorization": f"Bot {token or self.sim.token}"}
        async with self._session.request(
            verb, self.sim.api_base + path, json=body, headers=headers
        ) as answer:
            self.headers = answer.headers
            return answer.status, (await answer.json() if answer.status != 204 else None)

    async def send(self, channel, **body: object) -> tuple[int, dict]:
        return await self.ask("POST", f"/channels/{channel.id}/messages", body)


@pytest.fixture
async def api(discord_sim):
    async with aiohttp.ClientSession() as session:
        yield Api(discord_sim, session)


@pytest.fixture
def chat(discord_sim):
    return discord_sim.channel(discord_sim.add_user(name="Ada"))


def code_of(answer: dict) -> int:
    return answer["code"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "x" * 2001}, 50035),
        ({"content": ""}, 50006),
        ({"content": " \n "}, 50006),
        ({"content": "x", "nonce": "n" * 26}, 50035),
        ({"content": "x", "message_reference": {"message_id": "1"}}, 50035),
        ({"content": "x", "components": [{"type": 1, "components": []}]}, 50035),
        (
            {
                "content": "x",
                "components": [
                    {"type": 1, "components": [{"type": 2, "style": 1, "label": "a", "custom_id": "c" * 101}]}
                ],
            },
            50035,
        ),
        (
            {
                "content": "x",
                "components": [
                    {"type": 1, "components": [{"type": 2, "style": 1, "label": "a", "custom_id": "c"}] * 2}
                ],
            },
            50035,
        ),
        (
            {
                "content": "x",
                "components": [
                    {
                        "type": 1,
                        "components": [
                            {"type": 2, "style": 1, "label": "a", "custom_id": f"{n}{m}"} for n in range(5)
                        ],
                    }
                    for m in range(6)
                ],
            },
            50035,
        ),
        ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, 50035),
    ],
)
async def test_what_the_platform_refuses_is_refused_and_counted(discord_sim, api, chat, body, code):
    status, answer = await api.send(chat, **body)
    assert (status, code_of(answer)) == (400, code)
    assert sum(discord_sim.refusals.values()) == 1
    assert discord_sim.messages(chat) == []


async def test_2000_characters_pass_and_are_counted_as_characters(discord_sim, api, chat):
    assert (await api.send(chat, content="𝒳" * 2000))[0] == 200
    assert not discord_sim.violations


async def test_white_space_around_a_text_is_cut_off_and_noted(discord_sim, api, chat):
    await api.send(chat, content=" hello \n")
    assert [one.text for one in discord_sim.replies(chat)] == ["hello"]
    assert sum(discord_sim.violations.values()) == 1


async def test_the_same_enforced_nonce_gives_the_first_message(discord_sim, api, chat):
    _, first = await api.send(chat, content="once", nonce="k", enforce_nonce=True)
    _, second = await api.send(chat, content="twice", nonce="k", enforce_nonce=True)
    assert (first["id"], first["content"], first["nonce"]) == (second["id"], "once", "k")
    _, third = await api.send(chat, content="thrice", nonce="k")
    assert third["id"] != first["id"]
    discord_sim.delete(discord_sim.replies(chat)[1])
    status, answer = await api.send(chat, content="again", nonce="k", enforce_nonce=True)
    assert (status, code_of(answer)) == (404, 10008)


async def test_a_nonce_is_forgotten_after_minutes_and_never_fetched_again(discord_sim, api, chat):
    _, first = await api.send(chat, content="once", nonce="k", enforce_nonce=True)
    discord_sim.replies(chat)[0].at_s -= 301
    _, second = await api.send(chat, content="twice", nonce="k", enforce_nonce=True)
    assert first["id"] != second["id"]
    _, history = await api.ask("GET", f"/channels/{chat.id}/messages?limit=10")
    assert [(one["content"], "nonce" in one) for one in history] == [("twice", False), ("once", False)]


async def test_who_is_notified_follows_the_allowed_mentions(discord_sim, api, chat):
    ada = next(iter(chat.members.values()))
    said = discord_sim.say(chat, "question")
    text = f"<@{ada.id}> <@&77> @everyone `@here`"
    await api.send(chat, content=text)
    await api.send(chat, content=text, allowed_mentions={"parse": []})
    await api.send(chat, content=text, allowed_mentions={"parse": ["roles"], "users": [str(ada.id)]})
    reference = {"message_id": str(said.id)}
    await api.send(chat, content="answer", message_reference=reference)
    await api.send(
        chat,
        content="answer",
        message_reference=reference,
        allowed_mentions={"parse": [], "replied_user": False},
    )
    assert [one.pings for one in discord_sim.replies(chat)] == [
        (str(ada.id), "role:77", "everyone"),
        (),
        (str(ada.id), "role:77"),
        (str(ada.id),),
        (),
    ]


async def test_a_reply_to_what_is_gone_may_be_sent_without(discord_sim, api, chat):
    status, _ = await api.send(
        chat, content="x", message_reference={"message_id": "1", "fail_if_not_exists": False}
    )
    assert (status, discord_sim.replies(chat)[0].reference) == (200, None)


async def test_doors_are_closed_with_the_platforms_codes(discord_sim, api, chat):
    assert (await api.send(type("Nowhere", (), {"id": 1})(), content="x"))[1]["code"] == 10003
    chat.is_blocked = True
    assert (await api.send(chat, content="x"))[1] == {
        "code": 50007,
        "message": "Cannot send messages to this user",
    }
    guild = discord_sim.add_guild("Friends", [discord_sim.add_user()])
    room = next(iter(guild.channels.values()))
    room.is_mute = True
    assert (await api.send(room, content="x"))[1]["code"] == 50013
    room.is_hidden = True
    assert (await api.send(room, content="x"))[1]["code"] == 50001
    assert await api.ask("GET", "/users/@me", token="wrong") == (
        401,
        {"code": 0, "message": "401: Unauthorized"},
    )


async def test_an_edit_is_shown_and_only_the_author_may(discord_sim, api, chat):
    _, sent = await api.send(chat, content="one", components=[])
    path = f"/channels/{chat.id}/messages/{sent['id']}"
    assert (await api.ask("PATCH", path, {"content": "two"}))[0] == 200
    assert discord_sim.replies(chat)[0].texts() == ["one", "two"]
    said = discord_sim.say(chat, "mine")
    status, answer = await api.ask("PATCH", f"/channels/{chat.id}/messages/{said.id}", {"content": "ours"})
    assert (status, code_of(answer)) == (403, 50005)
    discord_sim.delete(discord_sim.replies(chat)[0])
    assert (await api.ask("PATCH", path, {"content": "three"}))[1]["code"] == 10008


async def test_another_bots_direct_chat_is_unknown(discord_sim, api):
    other = discord_sim.add_bot("Other")
    ada = discord_sim.add_user(name="Ada")
    theirs = discord_sim.channel(ada, other)
    assert (await api.send(theirs, content="x"))[1]["code"] == 10003
    _, mine = await api.ask("POST", "/users/@me/channels", {"recipient_id": str(ada.id)})
    assert int(mine["id"]) == discord_sim.channel(ada).id != theirs.id


async def test_limits_are_stated_and_kept(discord_sim, api, chat):
    discord_sim.limits.narrow("createMessage", 2, 60)
    await api.send(chat, content="1")
    assert (api.headers["X-RateLimit-Limit"], api.headers["X-RateLimit-Remaining"]) == ("2", "1")
    await api.send(chat, content="2")
    status, answer = await api.send(chat, content="3")
    assert (status, set(answer)) == (429, {"message", "retry_after", "global"})
    assert 50 < answer["retry_after"] <= 60
    assert api.headers["Via"]


async def test_scripted_faults_refuse_cut_and_lose(discord_sim, api, chat):
    discord_sim.flood(chat, retry_after_s=1.5)
    assert (await api.send(chat, content="x"))[1]["retry_after"] == 1.5
    discord_sim.fail(Refuse(status=503))
    assert (await api.send(chat, content="x"))[0] == 503
    discord_sim.fail(Drop())
    with pytest.raises(aiohttp.ClientError):
        await api.send(chat, content="never")
    discord_sim.lose_answer(chat)
    with pytest.raises(aiohttp.ClientError):
        await api.send(chat, content="shown")
    assert [one.text for one in discord_sim.replies(chat)] == ["shown"]
    assert not discord_sim.refusals


async def test_the_control_endpoints_do_what_the_object_does(discord_sim, api):
    async def act(action: str, **arguments: object) -> object:
        async with api._session.post(f"{discord_sim.url}/sim/{action}", json=arguments) as answer:
            body = await answer.json()
            assert body["ok"], body
            return body["result"]

    chat = await act("user", user=42, name="Ada")
    said = await act("say", chat=chat, text="hello")
    await api.ask("POST", f"/channels/{chat}/messages", {"content": "hi"})
    (reply,) = await act("wait", chat=chat, replies=1)
    assert (said["text"], said["from"], reply["text"]) == ("hello", 42, "hi")
    assert (await act("counters"))["calls"] == {"createMessage": 1}
