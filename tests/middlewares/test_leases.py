import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.middlewares.leases import LeaseMiddleware
from feedcrawl.store.redis.errors import StoreUnavailable

URL = "http://a.test/"


class FakeLeases:
    def __init__(self, *, valid: bool = True, away: bool = False) -> None:
        self.ended: list[tuple[str, Any]] = []
        self._valid, self._away = valid, away

    def holds(self, lease: Lease) -> bool:
        return self._valid

    def done(self, lease: Lease, signal: str | None = None) -> None:
        if self._away:
            raise StoreUnavailable("timeout", "")
        self.ended.append((lease.id, signal))


def lease(kind: str = "page") -> Lease:
    return Lease(Task("t", kind, URL, "a.test"), History(), "1-x")


def through(leases: FakeLeases, meta: dict[str, Any], *yielded: Any, fails: bool = False) -> list[Any]:
    async def output() -> AsyncIterator[Any]:
        for each in yielded:
            assert leases.ended == []
            yield each
        if fails:
            raise ValueError

    async def collect() -> list[Any]:
        response = Response(URL, request=Request(URL, meta=meta))
        return [each async for each in LeaseMiddleware(leases).process_spider_output(response, output())]

    return asyncio.run(collect())


def test_a_page_ends_after_all_its_items() -> None:
    leases = FakeLeases()
    assert through(leases, {"lease": lease(), "signal": "ok"}, {"a": 1}, {"b": 2}) == [{"a": 1}, {"b": 2}]
    assert leases.ended == [("t", "ok")]


@pytest.mark.parametrize("kind", ["feed", "article", "sitemap"])
def test_a_task_that_has_a_pipeline_ends_there(kind: str) -> None:
    leases = FakeLeases()
    through(leases, {"lease": lease(kind)}, {"a": 1})
    assert leases.ended == []


def test_a_callback_that_fails_ends_nothing() -> None:
    leases = FakeLeases()
    with pytest.raises(ValueError):  # noqa: PT011 - the callback's own
        through(leases, {"lease": lease()}, {"a": 1}, fails=True)
    assert leases.ended == []


def test_a_lost_lease_and_a_page_without_a_lease_end_nothing() -> None:
    lost, unleased = FakeLeases(valid=False), FakeLeases()
    through(lost, {"lease": lease()})
    through(unleased, {})
    assert lost.ended == unleased.ended == []


def test_an_unreachable_store_is_an_error_of_the_callback() -> None:
    with pytest.raises(StoreUnavailable):
        through(FakeLeases(away=True), {"lease": lease()})


def test_a_request_that_copies_the_meta_is_a_new_task() -> None:
    leases, meta = FakeLeases(), {"lease": lease(), "colour": "blue"}
    (copy,) = through(leases, meta, Request(URL + "2", meta=meta))
    assert copy.meta == {"colour": "blue"}
    assert leases.ended == [("t", None)]


def test_a_request_that_is_yielded_again_is_a_new_task() -> None:
    leases = FakeLeases()
    first = Request(URL, meta={"lease": lease()})

    async def collect() -> list[Any]:
        async def output() -> AsyncIterator[Any]:
            yield first

        response = Response(URL, request=first)
        return [each async for each in LeaseMiddleware(leases).process_spider_output(response, output())]

    assert asyncio.run(collect()) == [first]
    assert "lease" not in first.meta
    assert leases.ended == [("t", None)]
