"""In which shard something lies: a pure function of its name, so that no directory needs to be kept or asked.

Tasks lie with the registered domain of their host, whose limits then live within one shard; what is kept under an id
(a feed's record, entries and journal, a claim) lies with the id. A new feed or sitemap gets an id that lies in the
shard of its host, so that a poll ends in one step on one shard (docs/decisions/0008-shards.md).
"""

from __future__ import annotations

import uuid
from functools import lru_cache
from itertools import count
from zlib import crc32

from feedcrawl.domain.urls import registered_domain


def shard_of(name: str, shards: int) -> int:
    """The shard of what is kept under a name."""
    return crc32(name.encode("utf-8", "surrogatepass")) % shards if shards > 1 else 0


@lru_cache(maxsize=4096)
def shard_of_host(host: str, shards: int) -> int:
    """The shard of a host's tasks, its pace and its circuit."""
    return shard_of(registered_domain(host), shards) if shards > 1 else 0


def settled_id(drawn: str, shard: int, shards: int) -> str:
    """A UUID that lies in this shard: the one that was drawn, or the first of those derived from it."""
    if shard_of(drawn, shards) == shard:
        return drawn
    base = uuid.UUID(drawn).int
    # Only bits of its last group change, which are chance in a version 4 UUID; every shard is met within 2⁴⁸ of them.
    derived = (str(uuid.UUID(int=base ^ step)) for step in count(1))
    return next(each for each in derived if shard_of(each, shards) == shard)
