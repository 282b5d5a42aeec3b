"""How much may be under way at once, on an event loop without a server."""

import asyncio
import threading

import pytest

from feedcrawl.api.limits import places
from feedcrawl.api.limits.places import Heavy, Places
from feedcrawl.api.problems import RetryLater


def test_places_are_limited_in_total_and_per_caller() -> None:
    seats = Places(3, 2, "too_many", "seats")
    with seats.taken("a"), seats.taken("a"):
        with pytest.raises(RetryLater) as own:
            seats.taken("a").__enter__()
        assert own.value.code == "too_many"
        with seats.taken("b"), pytest.raises(RetryLater):
            seats.taken("c").__enter__()
        with seats.taken("c"):
            pass
    with seats.taken("b"), seats.taken("b"), seats.taken("a"):
        pass


def test_requests_beyond_the_places_are_refused() -> None:
    async def come(seats: Places, inside: list[int], number: int) -> None:
        await asyncio.sleep(0)
        try:
            with seats.taken(str(number % 4)):
                inside.append(number)
                await asyncio.sleep(0.05)
        except RetryLater:
            pass

    async def all_come() -> list[int]:
        seats, inside = Places(100, 50, "too_many", "seats"), list[int]()
        await asyncio.gather(*(come(seats, inside, number) for number in range(180)))
        return inside

    assert len(asyncio.run(all_come())) == 100


def test_heavy_work_is_limited_at_a_time() -> None:
    async def work(heavy: Heavy, seen: list[int], under_way: list[int]) -> None:
        async with heavy.turn():
            under_way[0] += 1
            seen.append(under_way[0])
            await asyncio.sleep(0.001)
            under_way[0] -= 1

    async def all_results() -> list[int]:
        heavy, seen = Heavy(), list[int]()
        under_way = [0]
        await asyncio.gather(*(work(heavy, seen, under_way) for _ in range(20)))
        return seen

    seen = asyncio.run(all_results())
    assert (len(seen), max(seen)) == (20, places.HEAVY_AT_ONCE)


def test_a_caller_that_waits_too_long_for_a_turn_gets_too_busy() -> None:
    async def too_long() -> None:
        heavy = Heavy()
        async with heavy.turn(), heavy.turn():
            with pytest.raises(RetryLater) as refused:
                async with heavy.turn(0.01):
                    pass
            assert refused.value.code == "too_busy"
        async with heavy.turn(0.01):
            pass

    asyncio.run(too_long())


def test_callers_share_a_result_that_was_begun_after_all_of_them_arrived() -> None:
    made, go_on = list[int](), threading.Event()

    def make() -> int:
        number = len(made)
        made.append(number)
        go_on.wait(10)
        return number

    async def three_rounds() -> list[int]:
        heavy = Heavy()
        first = asyncio.create_task(heavy.shared("x", make))
        while not made:
            await asyncio.sleep(0.001)
        async with heavy.turn():  # the lane is full: those who come now wait, and share
            later = [asyncio.create_task(heavy.shared("x", make)) for _ in range(45)]
            await asyncio.sleep(0.01)
            later[0].cancel()  # who leaves takes nothing from the others
            go_on.set()
        return [await first, *(await asyncio.gather(*later[1:]))]

    assert asyncio.run(three_rounds()) == [0] + [1] * 44
    assert made == [0, 1]


def test_an_error_of_shared_work_reaches_its_own_callers_only() -> None:
    async def twice() -> list[object]:
        heavy = Heavy()
        bad = await asyncio.gather(*(heavy.shared("x", lambda: 1 // 0) for _ in range(2)), return_exceptions=True)
        return [*map(type, bad), await heavy.shared("x", lambda: 7)]

    assert asyncio.run(twice()) == [ZeroDivisionError, ZeroDivisionError, 7]
