import redis

from feedcrawl.store.sites.site_runs import SiteRuns


def test_a_run_is_joined_until_it_ends(redis_client: redis.Redis) -> None:
    runs = SiteRuns(redis_client)
    first = runs.join("a")
    assert not first.joined
    assert runs.join("a") == (first.since_ms, True)
    assert not runs.join("b").joined
    assert (runs.count("a", 3), runs.count("a", 2)) == (3, 5)
    runs.end("a")
    again = runs.join("a")
    assert (again.joined, again.since_ms >= first.since_ms) == (False, True)
    assert runs.count("a", 1) == 1
    assert all(redis_client.ttl(key) > 0 for key in redis_client.keys("*"))
