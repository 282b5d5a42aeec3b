import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import redis
from scrapy.settings import Settings

from feedcrawl import settings as project
from feedcrawl.extensions.expiry import EVERY_SEC, Expiry
from feedcrawl.store.redis import keys
from feedcrawl.wiring.stores import Stores


class Stats(Counter[str]):
    def inc_value(self, name: str, count: int = 1) -> None:
        self[name] += count


def test_attempts_expire_in_a_worker_while_no_task_ends(redis_client: redis.Redis, redis_server: str) -> None:
    settings = Settings()
    settings.setmodule(project, priority="project")
    settings.setdict({"REDIS_URL": redis_server}, priority="cmdline")
    stores = Stores(settings, any_server=True)
    began = datetime(2026, 11, 28, tzinfo=UTC)
    clock = [began]
    expiry = Expiry.__new__(Expiry)
    expiry._stats = Stats()  # type: ignore[assignment]
    expiry._wired = SimpleNamespace(  # type: ignore[assignment]
        articles=stores.articles, readiness=SimpleNamespace(trouble=None), now=lambda: clock[0]
    )
    for name, days_ago in (("a", 29), ("b", 0)):
        redis_client.sadd(keys.CANONICAL_ATTEMPTED, name)
        redis_client.zadd(keys.CANONICAL_ATTEMPTED_AT, {name: (began - timedelta(days=days_ago)).timestamp()})

    def left() -> set[str]:
        assert asyncio.run(expiry.step()) == EVERY_SEC
        return redis_client.smembers(keys.CANONICAL_ATTEMPTED)

    try:
        assert left() == {"a", "b"}
        clock[0] = began + timedelta(days=1, seconds=1)
        assert left() == {"b"}
        clock[0] = began + timedelta(days=30, seconds=1)
        assert left() == set()
        assert expiry._stats["feedcrawl/expired"] == 2
    finally:
        stores.close()
