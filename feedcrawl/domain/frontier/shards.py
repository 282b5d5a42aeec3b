"""The shard of a key: a pure function of a name, so that no directory has to be stored or queried.

Tasks are in the shard of their host's registered domain, so that the domain's limits are within one shard. Data stored
under an id (a feed's record, entries and journal, a claim) is in the shard of the id. A new feed or sitemap gets an id
in the shard of its host, so that a poll ends in one step on one shard (docs/decisions/0008-shards.md).
"""

from __future__ import annotations

import uuid
from functools import lru_cache
from itertools import count
from zlib import crc32

from feedcrawl.domain.urls import registered_domain


def shard_of(name: str, shards: int) -> int:
    """The shard of the data stored under a name."""
    return crc32(name.encode("utf-8", "surrogatepass")) % shards if shards > 1 else 0


@lru_cache(maxsize=4096)
def shard_of_host(host: str, shards: int) -> int:
    """The shard of a host's tasks, pace and circuit."""
    return shard_of(registered_domain(host), shards) if shards > 1 else 0


def settled_id(drawn: str, shard: int, shards: int) -> str:
    """A UUID in this shard: the given one, else the first UUID derived from it that is."""
    if shard_of(drawn, shards) == shard:
        return drawn
    base = uuid.UUID(drawn).int
    # Only bits of the last group change, which are random in a version 4 UUID; its 2⁴⁸ values reach every shard.
    derived = (str(uuid.UUID(int=base ^ step)) for step in count(1))
    return next(each for each in derived if shard_of(each, shards) == shard)
