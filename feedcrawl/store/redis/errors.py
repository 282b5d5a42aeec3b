"""The errors of a Redis server. Every client from `connect` raises them itself (`raising.py`), so that stores, services
and components need no `try` for redis-py.
"""

from __future__ import annotations

from feedcrawl.domain.errors import FeedcrawlError


class StoreUnavailable(FeedcrawlError):
    """The server cannot execute a command now; the same command may succeed later.

    Codes: `unreachable` `timeout` `loading` `busy` `out_of_memory` `disk` `read_only` `replicas` `cluster` `auth`, or
    the code of the ServerRefused that prevented the embedded server from starting again.
    """


class ServerRefused(FeedcrawlError):
    """The crawl must not or cannot run on this server; `detail` is one sentence that states what to change.

    Codes: `no_data` `data_dir` `no_binary` `runtime_dir` `aof_damaged` `not_starting` `silent` (embedded server),
    `unreachable` `auth` `too_old` `no_aof` `evicts` `cluster` `shards` `emptied` `another_server` (any server).
    """
