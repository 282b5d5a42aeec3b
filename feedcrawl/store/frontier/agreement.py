"""The number of shards, on which all workers of a server agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.hints import program
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.errors import ServerRefused

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client


def agree(client: Client, shards: int) -> None:
    """Makes sure that all workers of a server use the same number of shards; the first worker sets the number.

    Raises ServerRefused (`shards`) if the server has another number.
    """
    stored = client.get(keys.SHARDS)
    if stored is None:
        used = client.exists(f"{keys.shard()}clock", f"{keys.shard()}feeds")  # keys of a version that had one shard
        client.set(keys.SHARDS, 1 if used else shards, nx=True)
        stored = client.get(keys.SHARDS)
    if stored is None or int(stored) != shards:
        detail = (
            f"the server's tasks are in {stored} shard(s), and FEEDCRAWL_SHARDS is {shards}: set "
            f"FEEDCRAWL_SHARDS={stored} for every worker and command. To change the number, export the subscriptions "
            f"(`{program()} opml`), and subscribe to them on an empty server"
        )
        raise ServerRefused("shards", detail)
