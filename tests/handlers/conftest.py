from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from stories import Worker, wired_to

from feedcrawl.wiring import Wiring, process


@pytest.fixture
def wired(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Wiring]:
    with wired_to(redis_server, tmp_path) as made:
        yield made


@pytest.fixture
def crawler(wired: Wiring) -> Any:
    """The parts of a crawler that handlers use."""
    made: Any = Worker()
    process._by_crawler[made] = wired
    made.settings = Settings()
    made.stats = MemoryStatsCollector(made)
    return made
