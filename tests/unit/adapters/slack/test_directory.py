"""What was looked up is kept: bounded, for its time, and asked for once."""

import asyncio

import pytest

from adapters.slack.directory import Answer, Cache

pytestmark = pytest.mark.req("ADP-4")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_least_recently_used_goes_first():
    cache = Cache(2)
    cache.put("a", 1, 9)
    cache.put("b", 2, 9)
    assert cache.get("a") == 1
    cache.put("c", 3, 9)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_each_answer_has_its_own_age():
    clock = Clock()
    cache = Cache(9, clock)
    cache.put("soon", 1, 10)
    cache.put("never", 2, float("inf"))
    clock.now = 10.5
    assert (cache.get("soon"), cache.get("never")) == (None, 2)


def test_what_says_nothing_is_kept_but_not_given():
    cache = Cache(9)
    cache.put("a", "", 9)
    assert (cache.get("a"), cache.of(["a", "b"])) == ("", {})


async def test_many_who_ask_at_once_ask_once():
    cache, asked, answer = Cache(9), [], asyncio.Event()

    async def ask(key):
        asked.append(key)
        await answer.wait()
        return Answer(key.upper(), 9)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(cache.fill("a", ask))
        await asyncio.sleep(0)
        answer.set()
    assert (asked, cache.get("a")) == (["a"], "A")


async def test_who_gives_up_asking_leaves_nobody_waiting():
    cache = Cache(9)

    async def never(key):
        await asyncio.Event().wait()

    first = asyncio.create_task(cache.fill("a", never))
    await asyncio.sleep(0)
    second = asyncio.create_task(cache.fill("a", never))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert cache.get("a") is None
