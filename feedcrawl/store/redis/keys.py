"""The names of all Redis keys.

There are two families: keys that other programs read or write (`rss:*`, `webpage:*`, `robots:*`, queues and streams),
whose names are a contract (docs/data-format.md); and our own keys `fc:{shard}:…`, whose braces make Redis Cluster keep
one shard in one slot.
"""

from __future__ import annotations

import re

CANONICAL_ATTEMPTED = "rss:canonical_attempted"
CANONICAL_ATTEMPTED_AT = "rss:canonical_attempted:at"
ARTICLE_INDEX = "rss:article_canonical_index"
CANONICAL_FAILURES = "rss:canonical_failures"
CRAWLER_QUEUE = "crawler_queue"
DEAD_LETTERS = "page_fetcher_dlq"
EVENTS = "feedcrawl:events"
EVENTS_REFUSED = "feedcrawl:events:refused"
EVENTS_COUNTS = "feedcrawl:events:counts"
PAGE_CACHE_INDEX = "webpage:by_age"
PAGE_CACHE_SIZES = "webpage:sizes"
PAGE_CACHE_BYTES = "webpage:bytes"

SHARDS = "fc:{0}:shards"
"""STRING: the number of shards."""
SWEEPER = "fc:{0}:sweeper"
"""STRING: the worker that is checking all feeds for a future task; absent otherwise."""
DELIVERY = "fc:{0}:delivery"
"""STRING: exists while a worker delivers dead letters."""

SOURCES = "fc:{0}:sources"
"""HASH: sources that were set over the API, by name."""
SOURCES_VERSION = "fc:{0}:sources_version"
"""STRING: number of changes of these sources; tells the other processes when to read them again."""
SITE_SEARCHES = "fc:{0}:site_searches"
"""HASH: results of searches for the feed and sitemaps of a source, by the page of the source."""
TOKENS = "fc:{0}:tokens"
"""HASH: the tokens of the API by their sha256."""

CATEGORY_LINKS_PATTERN = "rss:category_links:*"


def leader(group: str) -> str:
    """STRING: the process that processes the events of a consumer group; absent if there is none."""
    return f"fc:{{0}}:relay:{group}"


def category_links(category: str) -> str:
    """SET of a category's canonical article URLs: feeds add to it, and other programs may too."""
    return f"rss:category_links:{category}"


def article(uid: str) -> str:
    """HASH of one canonical article."""
    return f"rss:article_canonical:{uid}"


def articles_by_category(category: str) -> str:
    """SET of uids of a category."""
    return f"rss:articles_by_category:{category}"


def webpage(url_sha256: str) -> str:
    """STRING: decoded HTML of a page, by the URL that was enqueued."""
    return f"webpage:{url_sha256}"


def robots_failing(host: str) -> str:
    """HASH: the robots.txt of a host that fail, by origin."""
    return f"fc:{{0}}:robots_failing:{host}"


def robots(host: str) -> str:
    """HASH: robots.txt of a host."""
    return f"robots:{host}"


def queue_taken(worker: str, queue: str = CRAWLER_QUEUE) -> str:
    """LIST: members of the input queue that a worker has taken and not yet enqueued; in the queue's slot."""
    return f"{{{queue}}}:taken:{worker}"


def queues_taken(queue: str = CRAWLER_QUEUE) -> str:
    """Pattern of the `queue_taken` lists, and of those of earlier versions, which had no braces."""
    literal = re.sub(r"([\\*?\[\]])", r"\\\1", queue)
    return f"*{literal}*:taken:*"


def shard(number: int = 0) -> str:
    """Prefix of all our own keys of one shard."""
    return f"fc:{{{number}}}:"


def generation(number: int) -> str:
    """STRING, in each shard: the id of this server's data, which each data directory stores too."""
    return f"{shard(number)}generation"


def import_job(job_id: str) -> str:
    """STRING: the progress of an import of a long list of feeds."""
    return f"{shard()}import:{job_id}"


def dead_letter(uid: str) -> str:
    """STRING: a dead letter as the frontier wrote it, with secrets in its URLs; the list has it without them."""
    return f"{shard()}letter:{uid}"


def cached_response(name: str) -> str:
    """STRING: the cached response to an API request with an Idempotency-Key."""
    return f"{shard()}answer:{name}"


def shard_number(key: str) -> int:
    """The shard number in one of our own keys."""
    return int(key[key.index("{") + 1 : key.index("}")])
