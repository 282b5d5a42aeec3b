from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from api import free_port, serving
from stories import Reader, reading


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    """Reads pages as a worker does, at the present time."""
    with reading(redis_server, tmp_path) as made:
        yield made


@pytest.fixture
def client_of_reader(reader: Reader) -> Iterator[httpx.Client]:
    """A client of an API that shares the reader's stores."""
    with serving(reader.wired, free_port()) as url, httpx.Client(base_url=url, timeout=60) as made:
        yield made
