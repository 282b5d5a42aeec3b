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


class Held:
    def __init__(self, *, holds: bool = True, away: bool = False) -> None:
        self.ended: list[tuple[str, Any]] = []
        self._holds, self._away = holds, away

    def holds(self, lease: Lease) -> bool:
        return self._holds

    def done(self, lease: Lease, signal: str | None = None) -> None:
        if self._away:
            raise StoreUnavailable("timeout", "")
        self.ended.append((lease.id, signal))


def lease(kind: str = "page") -> Lease:
    return Lease(Task("t", kind, URL, "a.test"), History(), "1-x")


def through(held: Held, meta: dict[str, Any], *yielded: Any, fails: bool = False) -> list[Any]:
    async def output() -> AsyncIterator[Any]:
        for each in yielded:
            assert held.ended == []
            yield each
        if fails:
            raise ValueError

    async def collect() -> list[Any]:
        response = Response(URL, request=Request(URL, meta=meta))
        return [each async for each in LeaseMiddleware(held).process_spider_output(response, output())]

    return asyncio.run(collect())


def test_a_page_ends_after_all_its_items() -> None:
    held = Held()
    assert through(held, {"lease": lease(), "signal": "ok"}, {"a": 1}, {"b": 2}) == [{"a": 1}, {"b": 2}]
    assert held.ended == [("t", "ok")]


@pytest.mark.parametrize("kind", ["feed", "article", "sitemap"])
def test_a_task_that_has_a_pipeline_ends_there(kind: str) -> None:
    held = Held()
    through(held, {"lease": lease(kind)}, {"a": 1})
    assert held.ended == []


def test_a_callback_that_fails_ends_nothing() -> None:
    held = Held()
    with pytest.raises(ValueError):  # noqa: PT011 - the callback's own
        through(held, {"lease": lease()}, {"a": 1}, fails=True)
    assert held.ended == []


def test_a_lost_lease_and_a_page_without_a_lease_end_nothing() -> None:
    lost, none = Held(holds=False), Held()
    through(lost, {"lease": lease()})
    through(none, {})
    assert lost.ended == none.ended == []


def test_an_unreachable_store_is_an_error_of_the_callback() -> None:
    with pytest.raises(StoreUnavailable):
        through(Held(away=True), {"lease": lease()})


def test_a_request_that_copies_the_meta_is_a_new_task() -> None:
    held, meta = Held(), {"lease": lease(), "colour": "blue"}
    (copy,) = through(held, meta, Request(URL + "2", meta=meta))
    assert copy.meta == {"colour": "blue"}
    assert held.ended == [("t", None)]


def test_a_request_that_is_yielded_again_is_a_new_task() -> None:
    held = Held()
    first = Request(URL, meta={"lease": lease()})

    async def collect() -> list[Any]:
        async def output() -> AsyncIterator[Any]:
            yield first

        response = Response(URL, request=first)
        return [each async for each in LeaseMiddleware(held).process_spider_output(response, output())]

    assert asyncio.run(collect()) == [first]
    assert "lease" not in first.meta
    assert held.ended == [("t", None)]
