"""The simulated Discord as the real discord.py Client sees it, unchanged."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import discord
import pytest
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.simulators.discord import DiscordSimulator
from tests.simulators.fixtures import discord_sim

__all__ = ["discord_sim"]

pytestmark = pytest.mark.req("ADP-10")


class Recording(discord.Client):
    """A client that keeps what it is told and does not wait before a second IDENTIFY."""

    def __init__(self) -> None:
        intents = discord.Intents(guilds=True, messages=True, message_content=True)
        super().__init__(intents=intents, guild_ready_timeout=0.05)
        self.heard: asyncio.Queue[discord.Message] = asyncio.Queue()
        self.edited: asyncio.Queue[tuple[discord.Message, discord.Message]] = asyncio.Queue()
        self.pressed: asyncio.Queue[discord.Interaction] = asyncio.Queue()
        self.resumed = asyncio.Event()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        return None

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.put_nowait(message)

    async def on_message_edit(self, before: discord.Message, after: discord.Message) -> None:
        self.edited.put_nowait((before, after))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.pressed.put_nowait(interaction)

    async def on_resumed(self) -> None:
        self.resumed.set()

    async def next_text(self) -> str:
        return (await asyncio.wait_for(self.heard.get(), 10)).content


@asynccontextmanager
async def connected(sim: DiscordSimulator, monkeypatch) -> AsyncIterator[Recording]:
    monkeypatch.setattr(Route, "BASE", sim.api_base)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(sim.gateway_url))
    client = Recording()
    async with client:
        running = asyncio.create_task(client.start(sim.token))
        ready = asyncio.create_task(client.wait_until_ready())
        await asyncio.wait({running, ready}, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            ready.cancel()
            running.result()
        yield client
        running.cancel()
        await asyncio.wait({running})


@pytest.fixture
async def client(discord_sim, monkeypatch):
    async with connected(discord_sim, monkeypatch) as client:
        yield client


async def test_a_client_hears_a_person_and_answers(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    discord_sim.say(ada, "hello")
    message = await asyncio.wait_for(client.heard.get(), 10)
    assert (message.content, message.author.display_name, message.guild) == ("hello", "Ada", None)
    await message.channel.send("hi there")
    assert [one.text for one in discord_sim.replies(ada)] == ["hi there"]
    assert not discord_sim.refusals
    assert not discord_sim.violations


async def test_a_client_knows_a_guild_its_channels_and_threads(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    guild = discord_sim.add_guild("Friends", [ada])
    channel = discord_sim.add_channel(guild, "talk")
    thread = discord_sim.add_thread(channel, "aside")
    discord_sim.say(thread, "in here")
    message = await asyncio.wait_for(client.heard.get(), 10)
    assert isinstance(message.channel, discord.Thread)
    assert (message.channel.name, message.channel.parent_id) == ("aside", channel.id)
    assert [one.name for one in message.guild.text_channels] == ["general", "talk"]
    assert message.guild.me.id == discord_sim.bot_id


async def test_a_guild_made_before_the_client_connects_comes_with_ready(discord_sim, monkeypatch):
    ada = discord_sim.add_user(name="Ada")
    guild = discord_sim.add_guild("Friends", [ada])
    async with connected(discord_sim, monkeypatch) as client:
        assert [one.id for one in client.guilds] == [guild.id]


async def test_an_edit_by_a_person_is_told(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    said = discord_sim.say(ada, "first")
    await client.next_text()
    discord_sim.edit(said, "second")
    before, after = await asyncio.wait_for(client.edited.get(), 10)
    assert (before.content, after.content) == ("first", "second")
    assert after.edited_at is not None


async def test_after_opcode_7_the_session_is_resumed_and_nothing_is_missed(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    discord_sim.gateway.ask_to_reconnect()
    discord_sim.say(ada, "meanwhile")
    assert await client.next_text() == "meanwhile"
    await asyncio.wait_for(client.resumed.wait(), 10)
    assert discord_sim.gateway.identified_times == 1


async def test_a_cut_connection_is_resumed_and_what_was_missed_is_replayed_in_order(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    discord_sim.gateway.interrupt()
    for number in range(5):
        discord_sim.say(ada, f"{number}")
    assert [await client.next_text() for _ in range(5)] == ["0", "1", "2", "3", "4"]
    assert discord_sim.gateway.identified_times == 1


async def test_a_refused_resume_brings_a_new_session_that_replays_nothing(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    discord_sim.gateway.refused_resumes = 1
    discord_sim.gateway.interrupt()
    discord_sim.say(ada, "lost")
    await discord_sim.wait_for(lambda: discord_sim.gateway.identified_times == 2)
    discord_sim.say(ada, "found")
    assert await client.next_text() == "found"


async def test_an_invalid_session_is_made_anew(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    discord_sim.gateway.invalidate()
    await discord_sim.wait_for(lambda: discord_sim.gateway.identified_times == 2)
    discord_sim.say(ada, "again")
    assert await client.next_text() == "again"


async def test_a_stalled_connection_answers_heartbeats_and_tells_nothing_until_it_is_resumed(
    discord_sim, monkeypatch
):
    discord_sim.gateway.heartbeat_interval_s = 0.05
    async with connected(discord_sim, monkeypatch) as client:
        ada = discord_sim.add_user(name="Ada")
        discord_sim.gateway.stall()
        discord_sim.say(ada, "into the void")
        beats = discord_sim.gateway.heartbeats
        await discord_sim.wait_for(lambda: discord_sim.gateway.heartbeats >= beats + 3)
        assert client.heard.empty()
        discord_sim.gateway.interrupt()
        assert await client.next_text() == "into the void"


async def test_a_wrong_token_is_refused_at_login(discord_sim, monkeypatch):
    monkeypatch.setattr(Route, "BASE", discord_sim.api_base)
    async with Recording() as client:
        with pytest.raises(discord.LoginFailure):
            await client.login("wrong")


async def test_an_intent_the_portal_does_not_allow_closes_with_4014(discord_sim, monkeypatch):
    discord_sim.account.privileged.clear()
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with connected(discord_sim, monkeypatch):
            pass


async def test_a_view_is_shown_pressed_and_answered_once(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    channel = client.get_partial_messageable(discord_sim.channel(ada).id)
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Yes", custom_id="y", style=discord.ButtonStyle.success))
    view.add_item(discord.ui.Button(label="No", custom_id="n"))
    await channel.send("sure?", view=view)
    (reply,) = discord_sim.replies(ada)
    assert reply.labels() == [["Yes", "No"]]
    pressed = discord_sim.press(reply, "Yes")
    interaction = await asyncio.wait_for(client.pressed.get(), 10)
    assert interaction.data["custom_id"] == "y"
    await interaction.response.defer()
    await interaction.followup.send("noted", ephemeral=True)
    assert (pressed.callback, pressed.told) == (6, ["noted"])
    assert discord_sim.replies(ada) == [reply]
    with pytest.raises(discord.HTTPException) as caught:
        await client.http.request(
            Route(
                "POST",
                "/interactions/{webhook_id}/{webhook_token}/callback",
                webhook_id=interaction.id,
                webhook_token=interaction.token,
            ),
            json={"type": 6},
        )
    assert caught.value.code == 40060


async def test_a_response_after_three_seconds_is_too_late(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    channel = client.get_partial_messageable(discord_sim.channel(ada).id)
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Yes", custom_id="y"))
    await channel.send("sure?", view=view)
    pressed = discord_sim.press(discord_sim.replies(ada)[0], 0)
    pressed.at_s -= 3.1
    interaction = await asyncio.wait_for(client.pressed.get(), 10)
    with pytest.raises(discord.NotFound) as caught:
        await interaction.response.defer()
    assert caught.value.code == 10062


async def test_an_application_command_is_registered_called_and_answered_privately(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    tree = app_commands.CommandTree(client)

    @tree.command(name="deny", description="Do not let it run")
    async def deny(interaction: discord.Interaction, reason: str) -> None:
        await interaction.response.send_message(f"denied: {reason}", ephemeral=True)

    await tree.sync()
    called = discord_sim.command(ada, "deny", reason="no need")
    await discord_sim.wait_for(lambda: called.told)
    assert (called.callback, called.told, discord_sim.replies(ada)) == (4, ["denied: no need"], [])
    with pytest.raises(LookupError):
        discord_sim.command(ada, "allow")


async def test_history_typing_reactions_and_threads_work(discord_sim, client):
    ada = discord_sim.add_user(name="Ada")
    guild = discord_sim.add_guild("Friends", [ada])
    place = next(iter(guild.channels.values()))
    said = [discord_sim.say(place, f"{number}") for number in range(5)]
    await client.next_text()
    channel = client.get_channel(place.id)
    after = [one.content async for one in channel.history(after=discord.Object(said[1].id), limit=2)]
    assert after == ["2", "3"]
    around = [one.content async for one in channel.history(around=discord.Object(said[2].id), limit=3)]
    assert sorted(around) == ["1", "2", "3"]
    async with channel.typing():
        assert len(place.typing_at_s) == 1
    message = await channel.fetch_message(said[0].id)
    await message.add_reaction("👀")
    assert said[0].reactions == ["👀"]
    thread = await message.create_thread(name="aside")
    await thread.send("in it")
    assert [one.text for one in discord_sim.replies(thread.id)] == ["in it"]
