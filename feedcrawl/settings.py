"""Scrapy's settings for this project, and every setting of its own with unit, default and meaning.

The only place that reads the environment: each setting of `own_settings`, and the few that scrapy-redis brings, may be
given as an environment variable of the same name; `-s NAME=value` and a spider's settings come above it. What the own
settings mean as typed values is `config.py`; `docs/settings.md` is held against this table by a test.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAY_SEC = 86_400


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of our own: full name, default, unit, meaning, and the names it has elsewhere (HOST_RPS, b_up …)."""

    name: str
    default: str | float | None
    unit: str
    meaning: str
    also: tuple[str, ...] = ()


def _setting(name: str, default: str | float | None, unit: str, meaning: str, *also: str) -> Setting:
    return Setting(f"FEEDCRAWL_{name}", default, unit, meaning, also)


own_settings: tuple[Setting, ...] = (
    # Disk and server
    _setting(
        "DATA_DIR", "./data", "path", "everything on disk; processes that name the same directory share one server"
    ),
    _setting("RAW", "true", "true or false", "keep every request and response of feeds and articles as WARC"),
    _setting("KEEP_RAW_DAYS", None, "days", "`raw/` is kept, at least; unset: for ever. The last 5 of each feed stay"),
    _setting("KEEP_ARTICLES_DAYS", None, "days", "`articles/` is kept; unset: for ever"),
    _setting("KEEP_ENTRIES_DAYS", None, "days", "`entries/` is kept; unset: for ever"),
    _setting("REDACT_EMAILS", "false", "true or false", "keep of feeds' authors no e-mail addresses; `raw/` has them"),
    _setting("REDIS_UNSAFE", "false", "true or false", "use a server without AOF or with an eviction policy"),
    _setting(
        "REDIS_OUTAGE_SEC", 600, "s", "a crawl whose server or disk fails pauses; after this long it ends with status 1"
    ),
    _setting("SHARDS", 1, "shards", "parts of the frontier, for a Redis Cluster; decided by the first start"),
    # Who we are, and whom we may ask
    _setting("CONTACT", None, "URL or address", "how publishers reach you; part of the user agent", "user_agent"),
    _setting("ALLOW_NETWORKS", "", "CIDRs", "non-public ranges that may be dialled, comma separated"),
    _setting("HOSTS_FILE", None, "path", "names resolved from a hosts(5) file before DNS; the guard judges the result"),
    _setting("DENY_PORTS", "", "ports", "ports refused besides those that are refused anyway, comma separated"),
    # Pace and circuits
    _setting(
        "HOST_DELAY_SEC",
        1.0,
        "s",
        "between two requests to a host, where neither robots.txt nor a source says otherwise",
        "HOST_RPS",
        "rate_limit_per_second",
        "min_delay_ms",
    ),
    _setting("HOST_CONCURRENCY", 1, "requests", "open at a time on a host, across all workers", "HOST_MAX_CONCURRENCY"),
    _setting(
        "DOMAIN_DELAY_SEC",
        None,
        "s",
        "between two requests to all hosts of a registered domain; unset: a quarter of the hosts' own",
    ),
    _setting(
        "DOMAIN_CONCURRENCY",
        None,
        "requests",
        "open at a time on all hosts of a registered domain; unset: four times FEEDCRAWL_HOST_CONCURRENCY",
    ),
    _setting("MAX_CRAWL_DELAY_SEC", 120.0, "s", "a longer Crawl-delay is cut to this and logged"),
    _setting("CIRCUIT_FAILURES", 5, "failures", "in a row open a host's circuit", "circuit_breaker_failure_threshold"),
    _setting(
        "CIRCUIT_FIRST_WAIT_SEC",
        30.0,
        "s",
        "until the first probe of an open circuit; doubles",
        "circuit_breaker_initial_backoff_seconds",
    ),
    _setting("CIRCUIT_MAX_WAIT_SEC", 300.0, "s", "longest wait between probes", "circuit_breaker_max_backoff_seconds"),
    # One request
    _setting("FETCH_TIMEOUT_SEC", 30.0, "s", "whole request of a feed", "FETCH_TIMEOUT_MS", "request_timeout_seconds"),
    _setting("ARTICLE_TIMEOUT_SEC", 30.0, "s", "whole request of an article"),
    _setting("ROBOTS_TIMEOUT_SEC", 10.0, "s", "whole request of a robots.txt"),
    _setting("SITEMAP_TIMEOUT_SEC", 50.0, "s", "whole request of a sitemap"),
    _setting("MAX_FEED_BYTES", 10 << 20, "bytes", "decoded body of a feed", "MAX_BODY_BYTES"),
    _setting("MAX_ARTICLE_BYTES", 5 << 20, "bytes", "decoded body of an article"),
    _setting("MAX_SITEMAP_BYTES", 50 << 20, "bytes", "decoded body of a sitemap"),
    _setting("MAX_REDIRECTS", 5, "hops", "a longer chain is refused", "max_redirects"),
    # Frontier
    _setting("LEASE_SEC", 60.0, "s", "a task that its worker does not confirm within this time goes to another"),
    _setting("MAX_ATTEMPTS", 4, "attempts", "1 + retries, before a URL is dead and a feed quarantined", "max_retries"),
    _setting("RETRY_BASE_SEC", 2.0, "s", "wait before the first retry; doubles", "retry_backoff_base_seconds"),
    _setting("REMEMBER_SEC", 30 * DAY_SEC, "s", "a URL that ended is not asked again within this time"),
    _setting("LINGER_SEC", 30.0, "s", "a one-shot run ends when nothing is due within this time"),
    _setting("DRAIN_SEC", 30.0, "s", "after SIGTERM, for requests that are under way"),
    _setting("TAKE_BATCH", 16, "tasks", "taken from the frontier at a time"),
    # robots.txt
    _setting(
        "ROBOTS_TTL_SEC",
        DAY_SEC,
        "s",
        "a robots.txt is asked again after this time",
        "robots_txt_cache_ttl_seconds",
        "robots_ttl_hours",
    ),
    _setting("ROBOTS_GRACE_SEC", 3600.0, "s", "pages wait this long for a robots.txt that fails with 5xx or no answer"),
    _setting("ROBOTS_ON_ERROR", "allow", "allow or disallow", "what holds after the grace"),
    # Cadence
    _setting("CADENCE", "learned", "policy", "`baseline` or `learned`"),
    _setting(
        "FAIRNESS", None, "0 … 1", "0 spends polls so that entries are found soonest, 1 so that feeds are served alike"
    ),
    _setting(
        "POLLS_PER_HOUR", None, "polls per hour", "of all feeds together; waits stretch or shrink alike to keep it"
    ),
    _setting("MIN_INTERVAL_SEC", 300.0, "s", "shortest time between polls of a feed", "SCHED_MIN_INTERVAL_SEC"),
    _setting("INITIAL_INTERVAL_SEC", 900.0, "s", "first interval of a new feed", "feed_poll_interval_minutes"),
    _setting("MAX_INTERVAL_SEC", float(DAY_SEC), "s", "longest time between polls of a feed", "SCHED_MAX_INTERVAL_SEC"),
    _setting("UP_FACTOR", 1.25, "×", "interval after a poll without news", "b_up"),
    _setting("DOWN_FACTOR", 0.75, "×", "interval after a poll with news", "b_down"),
    _setting("EWMA_ALPHA", 0.3, "0 … 1", "weight of the newest gap between entries", "ewma_alpha"),
    _setting("BLEND_LAMBDA", 0.5, "0 … 1", "weight of the observed gap against the interval", "blend_lambda"),
    _setting("JITTER_RATIO", 0.15, "0 … 1", "spread of an interval", "SCHED_JITTER_RATIO", "jitter_ratio"),
    _setting("BACKOFF_BASE", 2.0, "×", "interval after 429 or 503 without Retry-After", "backoff_base"),
    _setting("BACKOFF_CAP_SEC", 3600.0, "s", "longest such interval", "backoff_cap_sec"),
    # Archives of feeds
    _setting("MAX_ARCHIVE_PAGES", 100, "documents", "of a feed's archives or pages that one backfill reads"),
    # Sitemaps and sites
    _setting("SOURCES", None, "path", "a YAML file of sources: sites with their settings (docs/sources.md)"),
    _setting("SITEMAP_INTERVAL_SEC", 21_600.0, "s", "first and shortest time between polls of a sitemap"),
    _setting("SITEMAP_WINDOW_SEC", 2.0 * DAY_SEC, "s", "what a sitemap dates earlier than this is not asked for"),
    _setting("SITEMAP_MAX_NEW", 10_000, "URLs", "taken from one poll of a sitemap; the rest waits for the next"),
    _setting("SITEMAP_URLS_PER_DAY", 100_000, "URLs", "taken from the sitemaps of one site on one day (UTC)"),
    _setting("SITEMAP_RETIRE_SEC", 180.0 * DAY_SEC, "s", "a sitemap without change for so long is only probed"),
    _setting("SITEMAP_PROBE_SEC", 7.0 * DAY_SEC, "s", "time between these probes"),
    _setting("SITE_DEPTH", 10, "links", "that `crawl site` follows from the base of a source", "max_depth"),
    _setting("SITE_MAX_PAGES", 1000, "pages", "listing pages of a source that one `crawl site` follows"),
    # Parsing
    _setting(
        "PARSER_PROCESSES", None, "processes", "children in which feeds and pages are parsed; default: one per core"
    ),
    _setting("PARSER_CPU_SEC", 10.0, "s", "processor time of one document"),
    _setting("PARSER_MEMORY_BYTES", 1 << 30, "bytes", "address space of one child"),
    # Rendering
    _setting("RENDER", "auto", "never, auto or always", "`auto` renders pages that show nothing without their scripts"),
    _setting("RENDER_TIMEOUT_SEC", 30.0, "s", "until a page is there; 10 s later the browser is killed", "timeout_ms"),
    _setting("RENDER_PAGES", 2, "pages", "rendered at a time"),
    _setting("BROWSER", None, "path", "a Chromium; default: the first on PATH, else Playwright's own"),
    # What consumers read
    _setting("PAGE_CACHE_TTL_SEC", 3600, "s", "life of `webpage:*`; 0 = no page cache", "cache_ttl_seconds"),
    _setting("PAGE_CACHE_MAX_BYTES", 256 << 20, "bytes", "all of `webpage:*` together, oldest dropped first"),
    _setting("ARTICLE_TTL_SEC", 7 * DAY_SEC, "s", "life of `rss:article_canonical:*` and `rss:articles_by_category:*`"),
    _setting("CATEGORY_LINKS_TTL_SEC", 2 * DAY_SEC, "s", "life of `rss:category_links:*` after the last addition"),
    _setting("EVENTS_TTL_SEC", 7 * DAY_SEC, "s", "events older than this are trimmed, never past a consumer group"),
    _setting(
        "KAFKA_BOOTSTRAP",
        None,
        "host:port",
        "brokers that `scrapy relay` sends events to, comma separated",
        "kafka_bootstrap_servers",
    ),
    _setting("KAFKA_WEBPAGE_TOPIC", "webpage_log", "topic", "of `webpage_fetched`", "webpage_log_topic"),
    _setting("KAFKA_ENTRY_TOPIC", "new_entry", "topic", "of `new_entry`"),
    _setting(
        "KAFKA_SECURITY", "plaintext", "protocol", "of the brokers: `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`"
    ),
    _setting("KAFKA_CA_FILE", None, "path", "certificates (PEM) by which brokers are known; unset: the system's"),
    _setting("KAFKA_CERT_FILE", None, "path", "our certificate (PEM), where brokers ask for one"),
    _setting("KAFKA_KEY_FILE", None, "path", "its key (PEM), not encrypted; unset: in the same file"),
    _setting("KAFKA_SASL_MECHANISM", "PLAIN", "mechanism", "`PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`"),
    _setting("KAFKA_USERNAME", None, "name", "with which we log in"),
    _setting("KAFKA_PASSWORD", None, "secret", "its password; in the environment, where no list of processes shows it"),
    _setting("MIN_HTML_CHARS", 200, "characters", "shorter pages are FAIL_BAD_HTML"),
    _setting("IMAGE_PROXY", None, "path or URL", "where images in `content_html` are got; their address follows"),
    _setting("JOIN_SCOPE", "site", "site, all or off", "where one story is looked for: a registered domain"),
    _setting("JOIN_SIMILARITY", 0.9, "share", "of the text that two articles of one title have in common to be joined"),
    _setting("JOIN_MIN_CHARS", 500, "characters", "shorter texts are never joined; twice that under another title"),
    _setting("MEDIA_TTL_SEC", 30 * DAY_SEC, "s", "life of a media record that is in nobody's collection"),
    _setting("JOURNAL_LENGTH", 50, "fetches", "kept per feed"),
    # Media files
    _setting("MEDIA_FILES", "false", "true or false", "fetch enclosures of entries and lead images of articles"),
    _setting("MEDIA_MAX_BYTES", 20 << 20, "bytes", "decoded body of a media file; a worker may hold some in memory"),
    _setting("MEDIA_TYPES", "image/*,audio/*,video/*", "media types", "kept of them; `image/*` is all images"),
    # API and push
    _setting("API_HOST", "127.0.0.1", "address", "on which `scrapy api` listens"),
    _setting("API_PORT", 8000, "port", "on which `scrapy api` listens"),
    _setting(
        "API_RATE", 12_000, "requests a minute", "of one token or address, at each process of the API; 0 = any number"
    ),
    _setting("API_WRITE_RATE", 600, "requests a minute", "of them those that change something; 0 = any number"),
    _setting("API_MAX_BODY_BYTES", 1 << 20, "bytes", "of JSON that is sent to the API"),
    _setting("API_MAX_UPLOAD_BYTES", 16 << 20, "bytes", "of a list or file that is sent to the API"),
    _setting("API_MAX_FEEDS", 1_000_000, "feeds", "subscribed over the API at most; 0 = any number"),
    _setting("API_OPEN_METRICS", "false", "true or false", "`/metrics` of the API asks for no token"),
    _setting(
        "PUBLIC_URL", None, "URL", "at which others reach the API; hubs are asked for pushes only where it is given"
    ),
    _setting("HUB_URL", None, "URL", "of a WebSub hub at which readers of collections may subscribe (`rel=hub`)"),
    _setting("PUSH_SHA1", "false", "true or false", "believe pushes signed with SHA-1, as some large hubs still do"),
    # Metrics
    _setting("METRICS_HOST", "127.0.0.1", "address", "on which a worker shows its metrics"),
    _setting("METRICS_PORT", 0, "port", "of `/metrics` for Prometheus, one for each worker of a machine; 0 = none"),
    # Tracing
    _setting(
        "TRACING", "false", "true or false", "spans by OpenTelemetry, to where `OTEL_EXPORTER_OTLP_ENDPOINT` says"
    ),
    # Logs
    _setting("LOG_FORMAT", "console", "console or json", "form of log lines"),
    _setting("LOG_LEVEL", "INFO", "level", "least level that is logged"),
)

REDIS_ENVIRONMENT = ("REDIS_URL", "REDIS_HOST", "REDIS_PORT")
"""scrapy-redis's own connection settings that the environment may give too."""


OURS, THEIRS = "FEEDCRAWL_", "PAGE_FETCHER_"
"""How names begin that are meant for us: the second is another fetcher's, whose variables may be left where it ran."""

_ELSEWHERE = {
    "redis_url": "REDIS_URL",
    "input_queue": "nothing: it is always crawler_queue",
    "dlq_queue": "nothing: it is always page_fetcher_dlq",
    "circuit_breaker_backoff_multiplier": "nothing: it is always 2",
    "poll_timeout_seconds": "nothing: the frontier says when the next task is due",
    "max_xml_depth": "nothing: it is always 256",
}
"""What others set, and here is no setting of our own."""


def check_names(names: Iterable[str]) -> None:
    """Raises ValueError for a name that is meant for us and is no setting, with the one that was probably meant."""
    known = [setting.name for setting in own_settings]
    for name in names:
        if name.startswith((OURS, THEIRS)) and name not in known:
            raise ValueError(f"{name} is no setting; {_meant(name, known)}")


def _meant(name: str, known: list[str]) -> str:
    theirs = name.removeprefix(OURS).removeprefix(THEIRS)
    found = next((each.name for each in own_settings if theirs.lower() in map(str.lower, each.also)), None)
    found = found or _ELSEWHERE.get(theirs.lower())
    if found:
        return f"what is {theirs} elsewhere is {found} here (docs/settings.md says in which unit)"
    nearest = get_close_matches(f"{OURS}{theirs}", known, n=1, cutoff=0)
    return f"the nearest is {nearest[0]} (docs/settings.md lists all)"


def from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """Every own setting at its default or as the environment says, and scrapy-redis's where the environment has them.

    A name that is no setting comes along: `Config` refuses it where that can be told in a sentence. An empty variable
    is none, as container files write one that was not given.
    """
    values: dict[str, object] = {each.name: each.default for each in own_settings}
    values.update({name: value for name, value in environment.items() if name.startswith((OURS, THEIRS)) and value})
    values.update({name: environment[name] for name in REDIS_ENVIRONMENT if environment.get(name)})
    return values


globals().update(from_environment(os.environ))

# --- Scrapy ---------------------------------------------------------------------------------------------------------

BOT_NAME = "feedcrawl"
SPIDER_MODULES = ["feedcrawl.spiders"]
NEWSPIDER_MODULE = "feedcrawl.spiders"
COMMANDS_MODULE = "feedcrawl.commands"
ADDONS = {"feedcrawl.crawl.addon.Addon": 0}  # derives Scrapy's settings from ours and refuses unsafe ones

TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SCHEDULER = "feedcrawl.crawl.scheduler.FrontierScheduler"
SCHEDULER_PERSIST = True  # default False: a worker that closes would delete what all share
TWISTED_DNS_RESOLVER = "feedcrawl.crawl.resolver.PublicResolver"
DNS_TIMEOUT = 10  # default 60
DNSCACHE_ENABLED = False  # default True: Scrapy caches for ever; the resolver keeps answers for at most a minute

CONCURRENT_REQUESTS = 64  # default 16; hosts are paced by the frontier, so this is the worker's whole width
CONCURRENT_REQUESTS_PER_DOMAIN = 64  # default 8; one host has FEEDCRAWL_HOST_CONCURRENCY across the fleet
DOWNLOAD_DELAY = 0  # the frontier paces; a delay here would hold a slot
CONCURRENT_ITEMS = 4  # default 100: Scrapy starts this many tasks for each response, at 40 % of throughput
ROBOTSTXT_OBEY = True  # by middlewares/robots.py

DOWNLOAD_HANDLERS = {
    "http": "feedcrawl.crawl.download.LimitedDownloadHandler",  # bounds header sections
    "https": "feedcrawl.crawl.download.LimitedDownloadHandler",
    **dict.fromkeys(("file", "data", "s3", "ftp")),  # http and https only
}
DOWNLOAD_MAXSIZE = 10 << 20  # default 1 GiB; each kind of request carries its own
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False  # what came is archived first; the decoding middleware then refuses it
DOWNLOAD_VERIFY_CERTIFICATES = True
COOKIES_ENABLED = False
REFERER_ENABLED = False
METAREFRESH_ENABLED = False
HTTPPROXY_ENABLED = False  # default True: a proxy of the environment would resolve names beside the guard
RETRY_ENABLED = False  # a retry is a task that goes back to the frontier
REDIRECT_ENABLED = True
HTTPCACHE_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
AUTOTHROTTLE_ENABLED = False
URLLENGTH_LIMIT = 2083
DEPTH_LIMIT = 0

LOGSTATS_INTERVAL = 60.0

# The order of a request is downwards, that of a response upwards; 880 is nearest the wire.
DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "feedcrawl.middlewares.push.PushMiddleware": 5,  # answers by itself, and nothing is asked
    "feedcrawl.middlewares.addresses.AddressMiddleware": 10,  # first: sees robots.txt, probes and redirects too
    "feedcrawl.middlewares.circuit.CircuitMiddleware": 60,  # before robots.txt: a dead host costs one probe
    "feedcrawl.middlewares.robots.RobotsMiddleware": 100,
    "feedcrawl.middlewares.conditional.ConditionalMiddleware": 300,
    "feedcrawl.middlewares.outcome.OutcomeMiddleware": 550,  # sees final answers, inside the redirects
    "feedcrawl.middlewares.decoding.DecodingMiddleware": 590,  # bodies of redirects stay undecoded
    "feedcrawl.middlewares.redirects.RedirectMiddleware": 600,
    "feedcrawl.middlewares.raw.RawCaptureMiddleware": 880,  # bytes still as on the wire
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
}
SPIDER_MIDDLEWARES: dict[str, int | None] = {
    "feedcrawl.middlewares.leases.LeaseMiddleware": 50,  # outermost: the page ends when all it yielded is out
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": 40,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
}
ITEM_PIPELINES: dict[str, int | None] = {
    "feedcrawl.pipelines.canonicalize.CanonicalizePipeline": 100,
    "feedcrawl.pipelines.dedupe.DedupePipeline": 200,  # needs the uid
    "feedcrawl.pipelines.disk.DiskPipeline": 300,  # before anything in Redis speaks of it
    "feedcrawl.pipelines.store.StorePipeline": 400,
    "feedcrawl.pipelines.publish.PublishPipeline": 500,  # events after what they speak of
    "feedcrawl.pipelines.commit.CommitPipeline": 900,  # the task ends last
}
EXTENSIONS: dict[str, int | None] = {
    "feedcrawl.extensions.settle.Settle": 0,
    "feedcrawl.extensions.inputs.InputExtension": 10,
    "feedcrawl.extensions.watch.Watch": 15,
    "feedcrawl.extensions.sweep.Sweep": 16,
    "feedcrawl.extensions.snapshot.Snapshot": 17,
    "feedcrawl.extensions.retention.Retention": 18,
    "feedcrawl.extensions.logs.Logs": 20,
    "feedcrawl.extensions.metrics.Metrics": 30,
    "feedcrawl.extensions.tracing.Tracing": 40,
    "feedcrawl.extensions.progress.Progress": 800,
    "feedcrawl.extensions.shutdown.Shutdown": 900,
}
FEED_EXPORTERS = {
    "json": "feedcrawl.crawl.exporters.JsonExporter",
    "jsonlines": "feedcrawl.crawl.exporters.JsonLinesExporter",
    "jsonl": "feedcrawl.crawl.exporters.JsonLinesExporter",
    "csv": "feedcrawl.crawl.exporters.CsvExporter",
    "xml": "feedcrawl.crawl.exporters.XmlExporter",
}
