from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.settings import Settings

from feedcrawl import wiring
from feedcrawl.config import ConfigError
from feedcrawl.domain.cadence.values import CadencePolicy
from feedcrawl.settings import from_environment
from feedcrawl.store.redis.errors import ServerRefused
from feedcrawl.wiring import Wiring


@pytest.fixture
def wired(redis_server: str, redis_client: Any, tmp_path: Path) -> Iterator[Any]:
    """Makes wirings that are closed at the end."""
    made: list[Wiring] = []

    def make(**given: Any) -> Wiring:
        own = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path)}
        made.append(Wiring(Settings(from_environment({}) | own | given)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_no_connection_is_opened_before_its_first_use(wired: Any) -> None:
    made = wired(REDIS_URL="redis://127.0.0.1:1")
    assert made.config.lease_sec == 60
    made.close()
    with pytest.raises(ServerRefused, match="unreachable"):
        assert made.client


def test_all_stores_share_a_connection(wired: Any) -> None:
    made = wired()
    stores = [made.frontier, made.registry, made.hosts, made.entries, made.articles, made.events]
    assert {id(store._client) for store in stores} == {id(made.client)}
    assert made.leases is made.leases


def test_policies_follow_the_settings(wired: Any) -> None:
    made = wired(
        FEEDCRAWL_CADENCE="learned",
        FEEDCRAWL_FAIRNESS="0.25",
        FEEDCRAWL_MIN_INTERVAL_SEC="60",
        FEEDCRAWL_ARTICLE_TTL_SEC="100",
        FEEDCRAWL_PAGE_CACHE_TTL_SEC="0",
        FEEDCRAWL_JOURNAL_LENGTH="7",
        FEEDCRAWL_EVENTS_TTL_SEC="50",
    )
    assert (made.cadence.name, made.cadence.fairness, made.cadence.min_interval_sec) == ("learned", 0.25, 60.0)
    assert (made.articles._lives.article_sec, made.articles._lives.page_sec) == (100, 0)
    assert made.registry._journal_length == 7
    assert made.events._ttl_sec == 50


def test_defaults_of_the_cadence_are_the_policys_own(wired: Any) -> None:
    own = CadencePolicy()
    made = wired(FEEDCRAWL_CADENCE=own.name).cadence
    assert made == own


def test_scrapy_redis_settings_choose_the_server(wired: Any, redis_server: str) -> None:
    by_parameters = wired(REDIS_URL=None, REDIS_PARAMS={"url": redis_server, "socket_timeout": 3})
    assert by_parameters.client.ping()
    assert by_parameters.client.connection_pool.connection_kwargs["socket_timeout"] == 3
    by_path = wired(REDIS_URL=None, REDIS_PARAMS={"unix_socket_path": redis_server.removeprefix("unix://")})
    assert by_path.client.ping()


def test_settings_that_cannot_be_used_make_no_wiring(wired: Any) -> None:
    with pytest.raises(ConfigError):
        wired(FEEDCRAWL_LEASE_SEC="x")


def test_a_crawler_has_a_single_wiring() -> None:
    class Crawler(SimpleNamespace):
        __hash__ = object.__hash__

    first, second = (Crawler(settings=Settings(from_environment({}))) for _ in range(2))
    assert wiring.of(first) is wiring.of(first)
    assert wiring.of(first) is not wiring.of(second)


def test_the_clock_is_aware() -> None:
    assert Wiring.now().utcoffset() is not None
