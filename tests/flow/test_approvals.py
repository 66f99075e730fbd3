"""A tool waits for a person's button: who may press, what each press does, and what it never does."""

import asyncio

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says

COUNT = ("count", {})
FIRST_CARD = ["Once", "This session", "Always", "Deny"]


@pytest.mark.req("APR-1", "APR-2")
async def test_once_runs_the_tool_once_and_the_answer_follows(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    assert house.lab.runs == []
    assert list(card.tokens) == FIRST_CARD

    answer = await ann.presses("Once", card)
    await ann.gets("lab__count returned: run 1")
    await house.quiet()

    assert (answer.text, answer.alert) == ("Approved, running it.", False)
    assert house.lab.runs == [COUNT]


@pytest.mark.req("APR-1")
async def test_a_denied_call_does_not_run_and_the_model_hears_it(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()

    answer = await ann.presses("Deny", card)
    await ann.gets("was not allowed")
    await house.quiet()

    assert answer.text == "Denied."
    assert house.lab.runs == []
    assert house.model.asked[-1].lines[-1] == ("denied", "Not run: Ann denied this call.")


@pytest.mark.req("APR-4")
async def test_a_second_press_changes_nothing_and_says_why(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    await ann.presses("Once", card)
    await ann.gets("returned: run 1")

    again, contrary = await ann.presses("Once", card), await ann.presses("Deny", card)
    await house.quiet()

    assert again.text == contrary.text == "This is already approved by Ann. Nothing was done: lab/count()"
    assert again.alert
    assert house.lab.runs == [COUNT]


@pytest.mark.req("APR-4")
async def test_two_presses_at_the_same_moment_run_the_tool_once(house: House) -> None:
    """C82a."""
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()

    first, second = await asyncio.gather(ann.presses("Once", card), ann.presses("Once", card))
    await ann.gets("returned: run 1")
    await house.quiet()

    assert (first.text, second.alert) == ("Approved, running it.", True)
    assert house.lab.runs == [COUNT]


@pytest.mark.req("APR-4", "APR-9")
async def test_approve_and_deny_together_have_one_winner_everywhere(house: House) -> None:
    """C82b."""
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()

    deny, approve = await asyncio.gather(ann.presses("Deny", card), ann.presses("Once", card))
    await ann.gets("was not allowed")
    await house.quiet()

    assert deny.text == "Denied."
    assert approve.text == "This is already denied by Ann. Nothing was done: lab/count()"
    assert await house.values("SELECT state FROM requests") == ["denied"]
    assert (await ann.gets("Denied by Ann")).tokens == {}
    assert house.lab.runs == []


@pytest.mark.req("APR-5")
async def test_another_members_press_runs_nothing_and_the_owners_press_still_does(house: House) -> None:
    """C62a."""
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    ann.says("use count {}", mentions=True)
    card = await ann.gets_card()

    answer = await bob.presses("Once", card)
    await house.quiet()

    assert (answer.text, answer.alert) == ("Only Ann may answer this. Nothing was done.", True)
    assert house.lab.runs == []
    assert ann.newest_with("Once").message == card.message

    await ann.presses("Once", card)
    await ann.gets("returned: run 1")


@pytest.mark.req("APR-5", "ACC-2")
async def test_an_admin_settles_a_members_card_and_the_card_names_him(house_of: Open) -> None:
    """C62b."""
    house = await house_of(access={"allow": {"memory": ["chat:-7"]}, "admins": {"memory": ["3"]}})
    ann, cid = house.member("1", "Ann"), house.member("3", "Cid")
    ann.says("use count {}", mentions=True)
    card = await ann.gets_card()

    await cid.presses("Once", card)
    await ann.gets("returned: run 1")

    await ann.gets("Approved by Cid")
    assert await house.values("SELECT decided_by FROM requests") == ["Cid"]


@pytest.mark.req("APR-5", "ACC-1")
async def test_a_strangers_press_runs_nothing_and_the_stranger_is_told(house_of: Open) -> None:
    house = await house_of(access={"allow": {"memory": ["1"]}})
    ann, eve = house.person("1"), house.person("666", "Eve")
    ann.says("use count {}")
    card = await ann.gets_card()

    answer = await eve.presses("Once", card)
    await house.quiet()

    assert (answer.text, answer.alert) == ("You may not answer here.", True)
    assert await house.values("SELECT state FROM requests") == ["pending"]
    assert house.lab.runs == []


@pytest.mark.req("APR-4")
async def test_each_of_two_open_cards_gets_its_own_outcome(house: House) -> None:
    """C63a."""
    here, there = house.person("1"), house.member("1")
    here.says('use count {"card": 1}')
    there.says('use count {"card": 2}', mentions=True)
    first, second = await here.gets_card(), await there.gets_card()

    await there.presses("Once", second)
    await here.presses("Deny", first)
    await there.gets("returned: run 1")
    await here.gets("was not allowed")
    await house.quiet()

    assert house.lab.runs == [("count", {"card": 2})]
    assert "Denied by Ann" in (await here.gets("card: 1")).text
    assert "Approved by Ann" in (await there.gets("card: 2")).text


@pytest.mark.req("APR-4")
async def test_a_press_on_an_earlier_turns_card_does_not_touch_the_open_one(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    old = await ann.gets_card()
    await ann.presses("Deny", old)
    await ann.gets("was not allowed")
    await house.quiet()
    ann.says("use look {}")
    await ann.gets("Tool look of lab")

    answer = await ann.presses("Once", old)
    await house.quiet()

    assert answer.text == "This is already denied by Ann. Nothing was done: lab/count()"
    assert await house.values("SELECT state FROM requests ORDER BY id") == ["denied", "pending"]
    assert house.lab.runs == []


@pytest.mark.req("APR-6")
@pytest.mark.parametrize("ending", ["stop", "crash"])
async def test_a_press_after_a_restart_continues_the_turn(house: House, ending: str) -> None:
    """C65a."""
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    await house.quiet()
    await (house.stop() if ending == "stop" else house.crash())
    await house.start()

    await ann.presses("Once", card)
    await ann.gets("returned: run 1")
    await house.quiet()

    assert house.lab.runs == [COUNT]
    assert await house.values("SELECT state FROM turns") == ["done"]
    assert len(house.platform.shown) == 3  # what the model said, the card, the answer: nothing twice


@pytest.mark.req("APR-7")
async def test_an_expired_request_is_rewritten_and_the_model_hears_that_silence_is_no_consent(
    house: House,
) -> None:
    """C65b."""
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    house.clock.pass_by(minutes=31)

    rewritten = await ann.gets("Expired at")
    await ann.gets("Silence is not consent")
    answer = await ann.presses("Once", card)
    await house.quiet()

    assert rewritten.tokens == {}
    assert answer.text == "This is expired, it was not run. Nothing was done: lab/count()"
    assert house.lab.runs == []


@pytest.mark.req("APR-1", "APR-2")
async def test_the_calls_of_a_round_are_decided_and_run_one_after_the_other_on_one_card(house: House) -> None:
    """C64a."""
    ann = house.person()
    wanted = [("lab__count", {"n": number}) for number in range(3)]
    house.model.then(calls(*wanted), says("all done"))
    ann.says("three please")

    for number in range(3):
        card = await ann.gets(f"({number + 1} of 3)")
        assert card.message_id == "2"  # 1 was the person's message: one card for all
        assert list(card.tokens) == FIRST_CARD
        assert f"n: {number}" in card.text
        assert card.text.count("lab/count") == 3
        assert len(house.lab.runs) == number
        await ann.presses("Once", card)
    await ann.gets("all done")
    await house.quiet()

    assert house.lab.runs == [("count", {"n": number}) for number in range(3)]
    assert [text for text in ann.sees() if "lab/count" in text] == [house.platform.shown[0].text]
    assert "done" in house.platform.shown[0].text.splitlines()[0]


@pytest.mark.req("APR-1")
async def test_a_denied_call_does_not_keep_the_rest_of_its_round_from_being_asked(house: House) -> None:
    ann = house.person()
    house.model.then(calls(("lab__count", {"n": 1}), ("lab__count", {"n": 2})), says("all done"))
    ann.says("two please")
    await ann.presses("Deny", await ann.gets("(1 of 2)"))
    await ann.presses("Once", await ann.gets("(2 of 2)"))
    await ann.gets("all done")

    assert house.lab.runs == [("count", {"n": 2})]
    assert [line[0] for line in house.model.asked[-1].lines] == ["user", "call", "call", "denied", "success"]


@pytest.mark.req("APR-1")
async def test_without_a_call_that_asks_there_is_no_card(house_of: Open) -> None:
    house = await house_of(approvals={"allow": ["lab/*"]})
    ann = house.person()
    ann.says("use count {}")
    await ann.gets("returned: run 1")
    await house.quiet()

    assert await house.rows("SELECT * FROM requests") == []


@pytest.mark.req("APR-3")
async def test_a_tool_that_the_configuration_denies_never_asks(house_of: Open) -> None:
    house = await house_of(approvals={"allow": ["lab/*"], "deny": ["lab/count"]})
    ann = house.person()
    ann.says("use count {}")
    await ann.gets("The configuration does not allow this tool.")
    await house.quiet()

    assert house.lab.runs == []
    assert await house.rows("SELECT * FROM requests") == []


@pytest.mark.req("APR-1")
async def test_an_identical_call_later_in_the_turn_needs_a_new_approval(house: House) -> None:
    """C78a."""
    ann = house.person()
    same = ("lab__count", {"n": 1})
    house.model.then(calls(same), calls(same), says("all done"))
    ann.says("twice please")
    first = await ann.gets_card()
    await ann.presses("Once", first)
    await ann.gets("done\n")
    second = await ann.gets_card()
    assert second.tokens != first.tokens
    assert len(house.lab.runs) == 1

    await ann.presses("Once", second)
    await ann.gets("all done")
    assert len(house.lab.runs) == 2


@pytest.mark.req("QUE-4", "APR-4")
@pytest.mark.parametrize("words", ["carry on then", "yes"])
async def test_words_during_an_open_request_are_kept_and_neither_approve_nor_deny(
    house: House, words: str
) -> None:
    """C69a, C69b: the stated rule is that plain words never count."""
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    written = ann.says(words)
    repeated = await ann.gets("Answer the open request first. Your message is kept (1 waiting).")
    await house.quiet()

    assert await house.values("SELECT state FROM requests") == ["pending"]
    assert repeated.message.reply_to == written.message_id
    assert "lab" in repeated.text
    await ann.presses("Once", repeated)
    await ann.gets(f"You said: {words}")
    await house.quiet()
    assert house.lab.runs == [COUNT]
    shown = {each.message_id: each for each in house.platform.shown}
    for each in (card, repeated):  # both cards of the request tell its end, none has a live button
        assert "Approved by Ann" in shown[each.message_id].text
        assert shown[each.message_id].tokens == {}


@pytest.mark.req("QUE-4")
async def test_approve_and_deny_work_as_words_too(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await ann.gets_card()
    ann.says("/approve")
    await ann.gets("returned: run 1")
    ann.says("use count {}")
    await ann.gets_card()
    ann.says("/deny it costs too much")
    await ann.gets("was not allowed")
    await house.quiet()

    assert house.model.asked[-1].lines[-1] == ("denied", "Not run: Ann denied this: it costs too much")
    assert house.lab.runs == [COUNT]
    ann.says("/approve")
    await ann.gets("Nothing waits for an answer here.")


@pytest.mark.req("APR-5")
async def test_the_approve_command_asks_who_may_answer_as_a_button_does(house_of: Open) -> None:
    house = await house_of(sessions={"group": "shared"})
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    house.model.then(calls(("lab__count", {})))
    ann.says("please count", mentions=True)
    await ann.gets_card()

    bob.says("/approve")
    await bob.gets("Only Ann may answer this.")
    await house.quiet()

    assert house.lab.runs == []


@pytest.mark.req("APR-9", "AGT-9")
@pytest.mark.parametrize(
    ("command", "answer"), [("/stop", "Stopped."), ("/new", "A new conversation begins")]
)
async def test_stop_and_new_close_an_open_card_and_a_later_press_runs_nothing(
    house: House, command: str, answer: str
) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    ann.says(command)
    await ann.gets(answer)
    closed = await ann.gets("Closed at")
    await house.quiet()

    pressed = await ann.presses("Once", card)
    await house.quiet()

    assert closed.tokens == {}
    assert pressed.text == "This is closed, it was not run. Nothing was done: lab/count()"
    assert house.lab.runs == []
    assert await house.values("SELECT state FROM turns") == ["cancelled"]
    ann.says("what next")
    await ann.gets("You said: what next")


@pytest.mark.req("QUE-5")
async def test_a_waiting_turn_holds_no_task_and_no_place_in_the_gate(house_of: Open) -> None:
    house = await house_of(queue={"max_running_per_user": 1, "max_running": 1})
    ann, bob = house.person("1"), house.person("2", "Bob")
    ann.says("use count {}")
    card = await ann.gets_card()
    await house.quiet()

    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("lane.")]
    assert (house.daemon._queue.running, house.daemon._queue.waiting) == (0, 0)
    bob.says("meanwhile")
    await bob.gets("You said: meanwhile")
    await ann.presses("Once", card)
    await ann.gets("returned: run 1")


@pytest.mark.req("QUE-5")
async def test_a_woken_turn_goes_before_its_users_queued_ones_and_never_above_the_limit(
    house_of: Open,
) -> None:
    house = await house_of(queue={"max_running_per_user": 1})
    chats = [house.member("1", chat_id=f"-{number}") for number in range(4)]
    chats[0].says("use count {}", mentions=True)
    card = await chats[0].gets_card()
    slow = house.model.hold("g1")
    for number in (1, 2, 3):
        chats[number].says(f"g{number}", mentions=True)
    await slow.reached()
    await house.platform.wait_received()

    await chats[0].presses("Once", card)
    assert house.lab.runs == []
    slow.open()
    await chats[3].gets("You said: g3")
    await chats[0].gets("returned: run 1")

    asked = [each.lines[-1][1] for each in house.model.asked]
    assert asked == ["use count {}", "g1", "run 1", "g2", "g3"]


@pytest.mark.req("APR-6", "EVT-3", "SES-4")
async def test_a_history_with_two_rounds_of_approvals_is_what_the_model_saw(house: House) -> None:
    """C81a."""
    ann = house.person()
    house.model.then(
        calls(("lab__count", {"n": 1}), text="first I count"),
        calls(("lab__look", {}), text="then I look"),
        says("all done"),
        says("fine"),
    )
    ann.says("do it")
    await ann.presses("Once", await ann.gets("Tool count of lab"))
    await ann.presses("Deny", await ann.gets("Tool look of lab"))
    await ann.gets("all done")
    await house.quiet()
    await house.restart()
    ann.says("and now")
    await ann.gets("fine")

    assert house.model.asked[-1].lines == [
        *house.model.asked[-2].lines,
        ("model", "all done"),
        ("user", "and now"),
    ]
    assert house.model.asked[-1].lines[:-2] == [
        ("user", "do it"),
        ("model", "first I count"),
        ("call", "lab__count"),
        ("success", "run 1"),
        ("model", "then I look"),
        ("call", "lab__look"),
        ("denied", "Not run: Ann denied this call."),
    ]


@pytest.mark.req("APR-7", "APR-2")
async def test_the_card_shows_that_the_tool_runs_and_then_that_it_is_done(house: House) -> None:
    """C84a."""
    ann = house.person()
    slow = house.lab.hold("count")
    ann.says("use count {}")
    card = await ann.gets_card()
    pressed = await ann.presses("Once", card)
    assert pressed.text == "Approved, running it."
    await ann.gets("· running…")
    await slow.reached()

    slow.open()
    await ann.gets("· done")
    assert house.lab.runs == [COUNT]


@pytest.mark.req("AGT-8", "APR-1")
@pytest.mark.parametrize("half", ['{"n": 1', '{"n": ', "[1]", '"n"', "NaN"])
async def test_half_written_arguments_bring_no_card_and_the_model_hears_of_it(
    house: House, half: str
) -> None:
    """C142a."""
    ann = house.person()
    house.model.then(calls(("lab__count", half)), says("sorry"))
    ann.says("count")
    await ann.gets("sorry")
    await house.quiet()

    assert await house.rows("SELECT * FROM requests") == []
    assert house.lab.runs == []
    outcome, text = house.model.asked[-1].lines[-1]
    assert outcome == "failed"
    assert "not a valid JSON object" in text


@pytest.mark.req("APR-2", "TOL-4", "ACC-4")
async def test_secrets_are_masked_on_the_card_and_true_for_the_tool(house: House) -> None:
    """C77a."""
    ann = house.person()
    secret = "sk-demo0000000000000000000000000000000000"
    args = {"url": "https://example.test/v1", "headers": {"Authorization": f"Bearer {secret}"}}
    house.model.then(calls(("lab__count", args)), says("fetched"))
    ann.says("fetch it")
    card = await ann.gets_card()
    await ann.presses("Once", card)
    await ann.gets("fetched")
    await house.quiet()

    assert house.lab.runs == [("count", args)]
    assert "example.test" in card.text
    assert "Authorization" in card.text
    assert not [text for text in ann.sees() if secret in text]
    shown_events = await house.values("SELECT payload FROM turn_events WHERE kind IN ('tool', 'request')")
    assert not [payload for payload in shown_events if secret in payload]


@pytest.mark.req("APR-4")
async def test_every_button_has_a_token_of_its_own_that_says_nothing(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    tokens = set((await ann.gets_card()).tokens.values())
    ann.says("hello?")
    tokens |= set((await ann.gets("Answer the open request first")).tokens.values())

    assert len(tokens) == 8
    for token in tokens:
        assert len(token.encode()) <= 64
        assert token.startswith("pl1:")
        assert len(token) == len("pl1:") + 22  # 128 random bits in base64url


async def test_a_press_from_nowhere_is_answered(house: House) -> None:
    ann = house.person()
    async with asyncio.timeout(10):
        answer = await house.platform.press("pl1:made-up", ann.source)
    assert answer is not None
    assert answer.text == "This button is not known here (any more). Nothing was done."


@pytest.mark.req("APR-2")
async def test_all_of_a_long_argument_is_one_tap_away_for_who_may_answer(house_of: Open) -> None:
    house = await house_of(platform={"limit": 1000, "edit_limit": 1000})
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    long = "".join(f"line {number}; " for number in range(300))
    house.model.then(calls(("lab__count", {"command": long})))
    ann.says("go", mentions=True)
    card = await ann.gets_card()
    assert list(card.tokens) == [*FIRST_CARD, "Show all"]

    refused = await bob.presses("Show all", card)
    assert refused.alert
    await ann.presses("Show all", card)
    await ann.gets("line 299")
    await house.quiet()

    whole = "".join(text.replace("\n", "") for text in ann.sees()[1:])
    assert long in whole
    assert await house.values("SELECT state FROM requests") == ["pending"]
