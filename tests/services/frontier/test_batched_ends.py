import asyncio
import threading
from collections.abc import Sequence

import pytest

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.services.frontier.batched_ends import MAX_BATCH, Endings
from feedcrawl.store.frontier.interface import Ending, Finished
from feedcrawl.store.redis.errors import StoreUnavailable


class Server:
    """Stands for the frontier: answers when it is let, and remembers what came together."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may_answer = threading.Event()
        self.away = False

    def end(self, endings: Sequence[Ending]) -> list[Finished]:
        self.batches.append([each.lease.id for each in endings])
        assert self.may_answer.wait(5)
        if self.away:
            raise StoreUnavailable("unreachable", "gone")
        return ["lost" if each.lease.id == "b" else "done" for each in endings]


def ending(task_id: str, shard: int = 0) -> Ending:
    return Ending(Lease(Task(task_id, "feed", "http://a.test/", "a.test"), History(), "1-x", shard=shard))


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def endings(server: Server):
    endings = Endings(server)
    yield endings
    endings.close()


def test_ends_that_arrive_during_a_step_are_sent_together(server: Server, endings: Endings) -> None:
    async def crawl() -> list[Finished]:
        first = endings.add(ending("a"))
        while not server.batches:
            await asyncio.sleep(0.001)  # the loop goes on though the server does not answer
        others = [endings.add(ending(task_id)) for task_id in "bcd"]
        server.may_answer.set()
        return list(await asyncio.gather(first, *others))

    assert asyncio.run(crawl()) == ["done", "lost", "done", "done"]
    assert server.batches == [["a"], ["b", "c", "d"]]


def test_a_batch_has_a_bounded_length(server: Server, endings: Endings) -> None:
    async def crawl() -> None:
        await asyncio.gather(*(endings.add(ending(str(number))) for number in range(2 * MAX_BATCH + 1)))

    server.may_answer.set()
    asyncio.run(crawl())
    assert [len(batch) for batch in server.batches] == [MAX_BATCH, MAX_BATCH, 1]


def test_shards_take_turns(server: Server, endings: Endings) -> None:
    async def crawl() -> None:
        many = [ending(f"{number}", shard=0) for number in range(MAX_BATCH + 2)]
        await asyncio.gather(*map(endings.add, [*many, ending("x", shard=3), ending("y", shard=3)]))

    server.may_answer.set()
    asyncio.run(crawl())
    assert [len(batch) for batch in server.batches] == [MAX_BATCH, 2, 2]
    assert server.batches[1] == ["x", "y"]


def test_an_unreachable_store_fails_a_batch_and_the_next_is_tried(server: Server, endings: Endings) -> None:
    async def crawl() -> tuple[list[Finished | BaseException], Finished]:
        server.may_answer.set()
        server.away = True
        failed = await asyncio.gather(endings.add(ending("a")), endings.add(ending("b")), return_exceptions=True)
        server.away = False
        return failed, await endings.add(ending("c"))

    failed, after = asyncio.run(crawl())
    assert [type(each) for each in failed] == [StoreUnavailable, StoreUnavailable]
    assert after == "done"


def test_a_cancelled_end_does_not_stop_the_others(server: Server, endings: Endings) -> None:
    async def crawl() -> Finished:
        gone, waits = endings.add(ending("a")), endings.add(ending("c"))
        await asyncio.sleep(0.01)
        gone.cancel()
        server.may_answer.set()
        return await waits

    assert asyncio.run(crawl()) == "done"
