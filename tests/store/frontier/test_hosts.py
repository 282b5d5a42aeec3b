import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feedcrawl.store.frontier.hosts import Hosts, RobotsFailure, RobotsRecord

RECORD = RobotsRecord("User-agent: *\nDisallow: /x", 200, 1_764_240_000.25, 0.0)


@pytest.fixture
def hosts(redis_client: redis.Redis) -> Hosts:
    return Hosts(redis_client, robots_ttl_sec=86_400)


def test_a_stored_robots_txt_is_found_until_it_expires(hosts: Hosts, redis_client: redis.Redis) -> None:
    assert hosts.robots("https://a.test") is None
    hosts.save_robots("https://a.test", RECORD)
    assert hosts.robots("https://a.test") == RECORD
    assert 0 < redis_client.ttl("robots:a.test") <= 86_400
    assert hosts.failing("a.test") == []
    failing = RobotsRecord("", 503, 1_764_240_001.5, 1_764_240_000.25)
    hosts.save_robots("https://a.test", failing, "http_503")
    hosts.save_robots("http://a.test:8080", RobotsRecord("", 0, 2.0, 1.0), "dns")
    assert hosts.robots("https://a.test") == failing
    assert hosts.failing("a.test") == [
        RobotsFailure("http://a.test:8080", "dns", 1.0),
        RobotsFailure("https://a.test", "http_503", 1_764_240_000.25),
    ]
    assert 0 < redis_client.ttl("fc:{0}:robots_failing:a.test") <= 86_400
    hosts.save_robots("https://a.test", RECORD)
    assert [each.origin for each in hosts.failing("a.test")] == ["http://a.test:8080"]


@pytest.mark.parametrize(
    ("origin", "key"),
    [
        ("https://a.test", "robots:a.test"),
        ("https://a.test:443", "robots:a.test"),
        ("https://a.test:8443", "robots:a.test:8443"),
        ("http://a.test", "robots:a.test:80"),
        ("http://a.test:80", "robots:a.test:80"),
        ("http://a.test:443", "robots:a.test:443"),
        ("http://a.test:8080", "robots:a.test:8080"),
        ("https://[2001:db8::1]", "robots:2001:db8::1"),
    ],
)
def test_key_of_an_origin(hosts: Hosts, redis_client: redis.Redis, origin: str, key: str) -> None:
    hosts.save_robots(origin, RECORD)
    assert redis_client.keys() == [key]


def test_origins_of_a_host_are_stored_separately(hosts: Hosts) -> None:
    hosts.save_robots("https://a.test", RECORD)
    assert hosts.robots("http://a.test") is None
    assert hosts.robots("https://a.test:8443") is None


def test_a_record_that_others_wrote_is_read(hosts: Hosts, redis_client: redis.Redis) -> None:
    redis_client.hset("robots:a.test", mapping={"body": "User-agent: *", "status": 200, "fetched_at": 5})
    assert hosts.robots("https://a.test") == RobotsRecord("User-agent: *", 200, 5.0)
    redis_client.hset("robots:b.test", "note", "x")
    assert hosts.robots("https://b.test") == RobotsRecord("", 0, 0.0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=200), at=st.floats(0, 1e11))
def test_every_body_survives(hosts: Hosts, body: bytes, at: float) -> None:
    record = RobotsRecord(body.decode("utf-8", "surrogateescape"), 200, at, at)
    hosts.save_robots("https://a.test", record)
    assert hosts.robots("https://a.test") == record
