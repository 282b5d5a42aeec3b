"""Settings of where data is kept, for how long, and the server that holds the state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting

from feedcrawl.domain.operations.settings import setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DiskSettings:
    """Where data is kept, for how long, and the server that holds the state."""

    data_dir: Path = setting(
        "./data",
        "path",
        "everything on disk, shared by processes that name the directory; relative to scrapy.cfg's folder",
        section="Disk and server",
    )
    raw: bool = setting("true", "true or false", "keep every request and response of feeds and articles as WARC")
    keep_raw_days: int | None = setting(
        None, "days", "`raw/` is kept, at least; unset: for ever. The last 5 of each feed stay", at_least=1
    )
    keep_raw_bytes: int | None = setting(
        None, "bytes", "`raw/` is kept, its oldest days go first; unset: any. Today and the last 5 of each feed stay"
    )
    keep_articles_days: int | None = setting(None, "days", "`articles/` is kept; unset: for ever", at_least=1)
    keep_entries_days: int | None = setting(None, "days", "`entries/` is kept; unset: for ever", at_least=1)
    min_free_bytes: int = setting(
        1 << 30, "bytes", "a crawl pauses (`disk_nearly_full`) while the disk has less free; 0 = until it is full"
    )
    redact_emails: bool = setting(
        "false", "true or false", "do not store e-mail addresses of feeds' authors; `raw/` still has them"
    )
    redis_unsafe: bool = setting("false", "true or false", "use a server without AOF or with an eviction policy")
    redis_fsync: str = setting(
        "everysec",
        "everysec or always",
        "when the embedded server syncs its writes to the disk; docs/operations.md has the cost of each",
        choices=("everysec", "always"),
    )
    redis_outage_sec: float = setting(
        600, "s", "a crawl whose server or disk fails pauses; after this long it ends with status 1"
    )
    shards: int = setting(
        1, "shards", "parts of the frontier, for a Redis Cluster; decided by the first start", at_least=1, at_most=256
    )
