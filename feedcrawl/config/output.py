"""Settings of what other programs read: articles, events, media files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting

from feedcrawl.domain.operations.settings import DAY_SEC, setting

KAFKA_SECURITY = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class OutputSettings:
    """What other programs read: articles, events, media files."""

    page_cache_ttl_sec: int = setting(
        3600, "s", "life of `webpage:*`; 0 = no page cache", section="What consumers read", also=("cache_ttl_seconds",)
    )
    page_cache_max_bytes: int = setting(256 << 20, "bytes", "all of `webpage:*` together, oldest dropped first")
    article_ttl_sec: int = setting(
        7 * DAY_SEC, "s", "life of `rss:article_canonical:*` and `rss:articles_by_category:*`"
    )
    category_links_ttl_sec: int = setting(2 * DAY_SEC, "s", "life of `rss:category_links:*` after the last addition")
    events_ttl_sec: int = setting(7 * DAY_SEC, "s", "events older than this are trimmed, never past a consumer group")
    webhook_urls: str = setting("", "URLs", "that `scrapy webhooks` sends events to, comma separated")
    webhook_secret: str | None = setting(
        None,
        "secret",
        "by which receivers verify the sender: 24 bytes or more, as text or as base64 after `whsec_`; set it in the "
        "environment, not with `-s`",
        secret=True,
    )
    webhook_events: str = setting("", "types", "of events that are sent to them, comma separated; unset: all")
    kafka_bootstrap: str | None = setting(
        None,
        "host:port",
        "brokers that `scrapy relay` sends events to, comma separated",
        also=("kafka_bootstrap_servers",),
    )
    kafka_webpage_topic: str = setting("webpage_log", "topic", "of `webpage_fetched`", also=("webpage_log_topic",))
    kafka_entry_topic: str = setting("new_entry", "topic", "of `new_entry`")
    kafka_security: str = setting(
        "plaintext",
        "protocol",
        "of the brokers: `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`",
        choices=KAFKA_SECURITY,
    )
    kafka_ca_file: Path | None = setting(
        None, "path", "CA certificates (PEM) that verify the brokers; unset: the system's"
    )
    kafka_cert_file: Path | None = setting(None, "path", "client certificate (PEM), if the brokers require one")
    kafka_key_file: Path | None = setting(None, "path", "its key (PEM), not encrypted; unset: in the same file")
    kafka_sasl_mechanism: str = setting(
        "PLAIN", "mechanism", "`PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`", choices=SASL_MECHANISMS
    )
    kafka_username: str | None = setting(None, "name", "user name for SASL")
    kafka_password: str | None = setting(
        None, "secret", "password for SASL; set it in the environment, so that no process list shows it", secret=True
    )
    min_html_chars: int = setting(200, "characters", "shorter pages are FAIL_BAD_HTML")
    image_proxy: str | None = setting(None, "path or URL", "prefix of the addresses of images in `content_html`")
    join_scope: str = setting(
        "site", "site, all or off", "scope of one story; `site`: a registered domain", choices=("site", "all", "off")
    )
    join_similarity: float = setting(
        0.9, "share", "of the text that two articles of one title must share to be merged", above=0, at_most=1
    )
    join_min_chars: int = setting(500, "characters", "shorter texts are never merged; twice that if titles differ")
    media_ttl_sec: int = setting(30 * DAY_SEC, "s", "lifetime of a page record that is in no collection")
    journal_length: int = setting(50, "fetches", "kept per feed")
    media_files: bool = setting(
        "false", "true or false", "fetch enclosures of entries and lead images of articles", section="Media files"
    )
    media_max_bytes: int = setting(20 << 20, "bytes", "decoded body of a media file; some may be in memory at a time")
    media_types: str = setting("image/*,audio/*,video/*", "media types", "that are kept; `image/*` is all images")
