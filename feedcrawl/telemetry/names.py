"""Every metric: its name, meaning and labels, and the stats of a crawl from which it is read.

No label names a feed, a host or a URL: the journal has the results of each feed. Sixteen metrics that other page
fetchers also have keep their common names, with the prefix `feedcrawl_`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from feedcrawl.domain.frontier.outcome import FAILURES as OUTCOMES
from feedcrawl.domain.frontier.outcome import Failure
from feedcrawl.domain.frontier.tasks import Kind
from feedcrawl.domain.operations.counters import GOOD_POLLS

PREFIX: Final = "feedcrawl_"
UNRETURNED: Final = "feedcrawl/scheduler/unreturned"
"""Stat of a crawl: tasks whose end could not be stored in the frontier before the process ended."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's name without the prefix, its meaning and labels.

    A counter is the sum of the crawler's `stats`. A stat name that ends in `/` is a prefix: every stat below it counts,
    and the rest of its name, split at `/`, gives the labels; the label `outgoing`, a URL, is the whole rest.
    `known`: values of the only label that exist from the start at 0, because rates and alerts need a first value.
    """

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    stats: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """The name with the prefix, as Prometheus shows it."""
        return PREFIX + self.name


COUNTERS: Final = (
    Metric(
        "pages_fetched_total",
        "Responses with a success status to tasks of pages and articles, whether or not they hold an article",
        stats=("feedcrawl/fetches/article/fetched/none", "feedcrawl/fetches/page/fetched/none"),
    ),
    Metric(
        "pages_failed_total",
        "Pages given up without an article, after retries; not those that robots.txt forbids",
        stats=("feedcrawl/articles/failed",),
    ),
    Metric(
        "pages_skipped_robots_total",
        "Pages not fetched, or not stored, because robots.txt forbids them",
        stats=("feedcrawl/outcome/robots_blocked",),
    ),
    Metric(
        "pages_requeued_total",
        "Pages given back without an attempt because their whole host failed",
        stats=("feedcrawl/fetches/article/unreachable/publisher", "feedcrawl/fetches/page/unreachable/publisher"),
    ),
    Metric(
        "retries_total",
        "Tasks given back for another attempt, after a failure that counts",
        stats=("feedcrawl/retries",),
    ),
    Metric(
        "urls_known_total",
        "URLs of crawler_queue that are not fetched, because they ended within FEEDCRAWL_REMEMBER_SEC",
        stats=("feedcrawl/inputs/known",),
    ),
    Metric("dlq_enqueued_total", "URLs moved to the list of dead letters", stats=("feedcrawl/dead_letters",)),
    Metric("circuit_breaker_opened_total", "Circuits of hosts opened", stats=("feedcrawl/circuit/open",)),
    Metric("circuit_breaker_closed_total", "Circuits of hosts closed", stats=("feedcrawl/circuit/closed",)),
    Metric(
        "circuit_breaker_probes_total",
        "Requests that test a host whose circuit is open, by their result",
        ("result",),
        ("feedcrawl/circuit/probes/",),
        known=("success", "failure"),
    ),
    Metric(
        "fetches_total",
        "Final responses and failures of tasks; outcome and fault as in domain/frontier/outcome.py",
        ("kind", "outcome", "fault"),
        ("feedcrawl/fetches/",),
    ),
    Metric(
        "outcomes_total",
        "Final responses and failures of tasks by reason code",
        ("reason",),
        ("feedcrawl/outcome/",),
        known=tuple(OUTCOMES),
    ),
    Metric(
        "requests_total",
        "Requests sent: of tasks, redirects, robots.txt and probes",
        stats=("downloader/request_count",),
    ),
    Metric(
        "outgoing_requests_total",
        "Requests by a configured local address or proxy: answered, or failed because of it with this reason",
        ("result", "outgoing"),
        ("feedcrawl/outgoing/",),
    ),
    Metric(
        "outgoing_circuits_opened_total",
        "Circuits of local addresses and proxies opened",
        ("outgoing",),
        ("feedcrawl/outgoing_circuit/open/",),
    ),
    Metric(
        "received_bytes_total",
        "Bytes of responses as received: heads, and bodies in their content codings",
        stats=("downloader/response_bytes",),
    ),
    Metric(
        "decoded_bytes_total",
        "Bytes of bodies that had a content coding, after decoding",
        stats=("httpcompression/response_bytes",),
    ),
    Metric(
        "saved_bytes_total",
        "Bytes that 304 responses to polls of feeds spared: the decoded length of the last body",
        stats=("feedcrawl/bytes_saved",),
    ),
    Metric(
        "polls_total",
        "Polls of feeds by result",
        ("result",),
        ("feedcrawl/polls/",),
        known=(*GOOD_POLLS, "failed"),
    ),
    Metric(
        "pushes_total", "Deliveries of hubs by result", ("result",), ("feedcrawl/pushes/",), known=("read", "failed")
    ),
    Metric("entries_new_total", "Entries seen for the first time", stats=("feedcrawl/entries/new",)),
    Metric("entries_changed_total", "Entries that were edited", stats=("feedcrawl/entries/changed",)),
    Metric("possibly_missed_total", "Polls that may have missed entries", stats=("feedcrawl/feeds/possibly_missed",)),
    Metric("feeds_quiet_total", "Feeds found quiet against their own last weeks", stats=("feedcrawl/feed_quiet",)),
    Metric("articles_stored_total", "Articles stored", stats=("feedcrawl/articles/stored",)),
    Metric("articles_merged_total", "Articles merged into another", stats=("feedcrawl/articles/merged",)),
    Metric(
        "articles_failed_total",
        "Pages given up without an article, by failure code; not those that robots.txt forbids",
        ("code",),
        ("feedcrawl/articles/failed/",),
        known=get_args(Failure),
    ),
    Metric("files_stored_total", "Media files stored", stats=("feedcrawl/files/stored",)),
    Metric("files_bytes_total", "Bytes of media files stored", stats=("feedcrawl/files/bytes",)),
    Metric("files_failed_total", "Media files refused or given up", ("reason",), ("feedcrawl/files/failed/",)),
    Metric(
        "parse_failures_total",
        "Documents that a child process could not parse",
        ("reason",),
        ("feedcrawl/parse_failed/",),
        known=("parse_failed", "parse_timeout", "parse_memory", "parse_crash"),
    ),
    Metric("leases_lost_total", "Leases lost to another worker", stats=("feedcrawl/scheduler/lease_lost",)),
    Metric(
        "pauses_total",
        "Pauses of the crawl because of the server or the disk",
        ("reason",),
        ("feedcrawl/scheduler/paused/",),
    ),
    Metric("errors_total", "Errors of the program itself", ("reason",), ("feedcrawl/failed/",)),
)
"""Counters of one worker since its start."""

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 7.5, 10, 20, 30, 60)
_KINDS = (*get_args(Kind), "other")
FETCH_SECONDS: Final = Metric(
    "fetch_duration_seconds",
    "Duration of a request, failed or not, by the kind of its task",
    ("kind",),
    buckets=_SECONDS,
    known=_KINDS,
)
CONTENT_BYTES: Final = Metric(
    "content_size_bytes",
    "Size of a body as received, in its content codings, by the kind of its task",
    ("kind",),
    buckets=tuple(4.0**n for n in range(4, 13)),
    known=_KINDS,
)
PARSE_SECONDS: Final = Metric(
    "parse_duration_seconds",
    "Duration of parsing a document in a child process",
    ("function",),
    buckets=(0.005, 0.01, 0.025, *_SECONDS),
)
INTERVAL_RATIO: Final = Metric(
    "poll_interval_ratio",
    "Time between two polls of a feed divided by the chosen interval",
    buckets=(0.5, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10),
)
HISTOGRAMS: Final = (FETCH_SECONDS, CONTENT_BYTES, PARSE_SECONDS, INTERVAL_RATIO)
"""Histograms of one worker since its start."""

STORE_UP: Final = Metric("store_up", "Whether Redis could be read: 1 or 0")
FEEDS: Final = Metric("feeds", "Subscribed feeds")
FEEDS_DUE: Final = Metric("feeds_due", "Polls that are due and that no worker holds")
PENDING: Final = Metric("frontier_pending", "Pending tasks", ("kind", "origin"))
ENDED: Final = Metric("frontier_ended_total", "Tasks that have ended", ("status", "kind"))
LEASED: Final = Metric("frontier_leased", "Tasks that workers hold")
PLACES: Final = Metric(
    "frontier_hosts", "Hosts by their place in a lane; place delayed counts tasks", ("lane", "place")
)
LATENESS: Final = Metric("lateness_seconds", "How long tasks had been due when they were taken", ("lane",))
INPUT_QUEUE: Final = Metric("input_queue_size", "URLs in crawler_queue")
DEAD_LETTERS: Final = Metric("dlq_size", "Dead letters")
CIRCUITS: Final = Metric("circuit_breaker_state", "Hosts whose circuit is not closed", ("state",))
FAILURES: Final = Metric(
    "circuit_breaker_consecutive_failures", "Most failures in a row of a host whose circuit is not closed"
)
BACKOFF: Final = Metric(
    "circuit_breaker_current_backoff_seconds",
    "Longest wait before a probe that was chosen for a host whose circuit is not closed",
)
EVENTS: Final = Metric("events", "Events in the stream")
EVENTS_LAG: Final = Metric("events_lag", "Events not yet delivered to a consumer group", ("group",))
EVENTS_PENDING: Final = Metric(
    "events_pending", "Events delivered to a consumer group and not acknowledged", ("group",)
)
EVENTS_BEHIND: Final = Metric("events_behind_seconds", "Age of the oldest event that a group still needs", ("group",))
EVENTS_CONSUMED: Final = Metric(
    "events_consumed_total",
    "Events sent by a consumer group (search: documents changed) or refused for good, and failed attempts at a batch",
    ("group", "result"),
)
DOCUMENTS: Final = Metric("search_documents", "Documents in the search index: of this data directory, or of the server")

FLEET: Final = (
    STORE_UP, FEEDS, FEEDS_DUE, PENDING, ENDED, LEASED, PLACES, LATENESS, INPUT_QUEUE, DEAD_LETTERS, CIRCUITS, FAILURES,
    BACKOFF, EVENTS, EVENTS_LAG, EVENTS_PENDING, EVENTS_BEHIND, EVENTS_CONSUMED, DOCUMENTS,
)  # fmt: skip
"""Metrics of the whole fleet, read from Redis: every process returns the same values."""

BUILD: Final = Metric("build_info", "Version of feedcrawl and of Python, as labels; always 1", ("version", "python"))

METRICS: Final = (BUILD, *COUNTERS, *HISTOGRAMS, *FLEET)
