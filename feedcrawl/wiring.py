"""What a process of feedcrawl is made of: the one place that names concrete stores and shares them within a crawler."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_redis.connection import SETTINGS_PARAMS_MAP

from feedcrawl.config import Config
from feedcrawl.services.leases import Leases
from feedcrawl.store.connection import Connection, connect
from feedcrawl.store.frontier import Frontier, FrontierPolicy

if TYPE_CHECKING:
    import redis
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class Wiring:
    """The stores of one process, each made when it is first asked for; `close()` ends them in order."""

    def __init__(self, settings: BaseSettings) -> None:
        self.config = Config.from_settings(settings)
        self._settings = settings

    @cached_property
    def connection(self) -> Connection:
        """The Redis in use, checked; ServerRefused says what must change."""
        parameters = self._settings.getdict("REDIS_PARAMS")
        given = {name: self._settings.get(source) for source, name in SETTINGS_PARAMS_MAP.items()}
        parameters.update({name: value for name, value in given.items() if value})
        return connect(
            url=parameters.pop("url", None),
            data_dir=self.config.data_dir,
            unsafe=self.config.redis_unsafe,
            parameters=parameters,
        )

    @property
    def client(self) -> redis.Redis:
        """The connection's client."""
        return self.connection.client

    @cached_property
    def frontier(self) -> Frontier:
        """All future work."""
        config = self.config
        policy = FrontierPolicy(
            lease_sec=config.lease_sec,
            max_attempts=config.max_attempts,
            host_delay_sec=config.host_delay_sec,
            host_concurrency=config.host_concurrency,
            remember_sec=config.remember_sec,
            circuit_failures=config.circuit_failures,
            circuit_waits_sec=config.circuit_waits_sec,
        )
        return Frontier(self.client, policy)

    @cached_property
    def leases(self) -> Leases:
        """What this worker holds of it."""
        return Leases(self.frontier)

    def close(self) -> None:
        """Leaves the server; the embedded one ends with its last user."""
        if "connection" in self.__dict__:
            self.connection.close()


_by_crawler: WeakKeyDictionary[Crawler, Wiring] = WeakKeyDictionary()


def of(crawler: Crawler) -> Wiring:
    """The wiring that all components of a crawler share."""
    if crawler not in _by_crawler:
        _by_crawler[crawler] = Wiring(crawler.settings)
    return _by_crawler[crawler]
