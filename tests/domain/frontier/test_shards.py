from collections import Counter
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.frontier.shards import settled_id, shard_of, shard_of_host


@pytest.mark.parametrize(
    ("name", "shards", "shard"),
    [
        ("6c84fb90-12c4-11e1-840d-7b25c5ee775a", 1, 0),
        ("6c84fb90-12c4-11e1-840d-7b25c5ee775a", 4, 2),
        ("", 4, 0),
        ("café.test/feed", 4, 2),
        ("\ud800", 4, 0),
    ],
)
def test_where_a_name_lies_never_changes(name: str, shards: int, shard: int) -> None:
    assert shard_of(name, shards) == shard


def test_the_hosts_of_a_registered_domain_are_together() -> None:
    hosts = ["example.co.uk", "www.example.co.uk", "news.example.co.uk"]
    assert len({shard_of_host(host, 64) for host in hosts}) == 1
    assert len({shard_of_host(host, 64) for host in ["a.co.uk", "b.co.uk", "c.co.uk", "d.co.uk"]}) > 1
    assert shard_of_host("127.0.0.1", 1) == 0


@pytest.mark.parametrize("shards", [2, 3, 8, 13])
def test_shards_have_about_as_much_each(shards: int) -> None:
    hosts = Counter(shard_of_host(f"www.site-{number}.example", shards) for number in range(10_000))
    assert min(hosts.values()) > 0.9 * 10_000 / shards
    assert max(hosts.values()) < 1.1 * 10_000 / shards


@given(drawn=st.uuids(version=4), shards=st.integers(1, 256), share=st.floats(0, 0.999))
def test_an_id_can_be_had_in_every_shard(drawn: UUID, shards: int, share: float) -> None:
    wanted = int(share * shards)
    settled = settled_id(str(drawn), wanted, shards)
    assert shard_of(settled, shards) == wanted
    assert UUID(settled).version == 4
    assert settled_id(settled, wanted, shards) == settled
    assert settled[:-4] == str(drawn)[:-4]  # as much chance as before
