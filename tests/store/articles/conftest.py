from collections.abc import Callable
from typing import Any

import pytest
import redis


@pytest.fixture
def queue(redis_client: redis.Redis) -> Callable[..., list[Any]]:
    """Runs a method that queues commands; the replies of the server."""

    def call(method: Callable[..., None], *arguments: Any) -> list[Any]:
        with redis_client.pipeline() as pipe:
            method(pipe, *arguments)
            return list(pipe.execute())

    return call
