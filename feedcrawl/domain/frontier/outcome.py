"""The outcome of a fetch: a table from HTTP status or failure to the host's signal, the task's fate and reason code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from feedcrawl.domain.frontier.outage import RETRY_WAIT_SEC
from feedcrawl.domain.http.robots_access import RETRY_SEC

Kind = Literal[
    "fetched",  # a usable response
    "not_modified",  # 304
    "redirect",  # to a URL that has to be followed
    "gone",  # 410
    "rejected",  # any other response that refuses permanently
    "throttled",  # 429
    "unreachable",  # the whole site fails
    "unstable",  # this response failed; another try may succeed
    "unusable",  # a response that cannot be read
    "forbidden",  # the request is not allowed
    "postponed",  # no request was made, through no fault of the URL
]
Signal = Literal["ok", "site", "soft", "throttled"]
Fate = Literal[
    "done",  # the task has succeeded
    "follow",  # the same task continues with the redirect's target
    "retry",  # tried again after `retry_wait_sec`; counts as an attempt
    "give_back",  # tried again when the host allows a request; no attempt is counted
    "reschedule",  # the poll has failed; the cadence sets the time of the next
    "dead",  # never tried again automatically
]
Failure = Literal["FAIL_BAD_HTML", "FAIL_HTTP", "FAIL_TIMEOUT", "FAIL_PARSE", "FAIL_EMPTY"]

Fault = Literal["none", "publisher", "ours"]

SUCCEEDED: tuple[Kind, ...] = ("fetched", "not_modified", "redirect")
PAUSES_SEC: Final = {"robots_unavailable": RETRY_SEC, "own_outage": RETRY_WAIT_SEC}
"""Minimum wait of a postponed task, by the reasons that may last longer than the host's delay."""
LONGEST_RETRY_WAIT_SEC: Final = 86_400.0
OURS = frozenset({"own_outage", "store_lost", "proxy_failed", "proxy_refused", "route_down", "bind_failed"})
RECURRING = frozenset({"feed", "sitemap", "websub"})
"""Kinds of task that are never removed: after a failure they are rescheduled."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one fetch.

    `signal` goes to the host's circuit (None: no information about the host), `fate` to the frontier. `reason` is the
    code that log, metric, journal and API share (`http_404`, `read_timeout`). `failure` is the article's failure code;
    `dead_letter` is True if the task goes to the dead letters once it is dead.
    """

    kind: Kind
    signal: Signal | None
    fate: Fate
    reason: str = ""
    failure: Failure | None = None
    dead_letter: bool = False


FETCHED = Outcome("fetched", "ok", "done")
NOT_MODIFIED = Outcome("not_modified", "ok", "done")
REDIRECT = Outcome("redirect", "ok", "follow")
GONE = Outcome("gone", "ok", "dead", failure="FAIL_HTTP", dead_letter=True)
REJECTED = Outcome("rejected", "ok", "dead", failure="FAIL_HTTP", dead_letter=True)
THROTTLED = Outcome("throttled", "throttled", "give_back", failure="FAIL_HTTP", dead_letter=True)
UNREACHABLE = Outcome("unreachable", "site", "give_back", failure="FAIL_HTTP", dead_letter=True)
UNSTABLE = Outcome("unstable", "soft", "retry", failure="FAIL_HTTP", dead_letter=True)
UNUSABLE = Outcome("unusable", "ok", "dead", failure="FAIL_HTTP", dead_letter=True)
UNREADABLE = replace(UNUSABLE, failure="FAIL_BAD_HTML")
UNPARSED = replace(UNUSABLE, failure="FAIL_PARSE")
TIMED_OUT = replace(UNSTABLE, failure="FAIL_TIMEOUT")
BROKEN = Outcome("unstable", None, "retry", failure="FAIL_PARSE", dead_letter=True)
FORBIDDEN = Outcome("forbidden", None, "dead", failure="FAIL_HTTP", dead_letter=True)
POSTPONED = Outcome("postponed", None, "give_back")

STATUSES: dict[int, Outcome] = {
    **dict.fromkeys(range(200, 300), FETCHED),
    **dict.fromkeys(range(300, 400), UNUSABLE),  # 300, 305, 306 and unassigned: no target to follow
    **dict.fromkeys((301, 302, 303, 307, 308), REDIRECT),
    304: NOT_MODIFIED,
    **dict.fromkeys(range(400, 500), REJECTED),
    410: GONE,
    429: THROTTLED,
    **dict.fromkeys(range(500, 600), UNSTABLE),
    **dict.fromkeys((502, 503, 504), UNREACHABLE),
}
"""Outcomes by final status (RFC 9110, 15). Every other number is no final status but a protocol error."""

FAILURES: dict[str, Outcome] = {
    # The host, or the network path to it, failed.
    "dns": UNREACHABLE,
    "refused": UNREACHABLE,
    "unreachable": UNREACHABLE,
    "connect_timeout": replace(UNREACHABLE, failure="FAIL_TIMEOUT"),
    "tls": UNREACHABLE,
    # The response is incomplete.
    "read_timeout": TIMED_OUT,
    "total_timeout": TIMED_OUT,
    "connection_lost": UNSTABLE,
    "truncated": UNSTABLE,
    "protocol": UNSTABLE,
    "unasked_304": replace(UNSTABLE, signal="ok"),  # a 304 to a request without validators: there is no body to use
    # The response arrived but is not usable.
    "redirect_loop": UNUSABLE,
    "too_many_redirects": UNUSABLE,
    "bad_redirect": UNUSABLE,
    "too_large": UNREADABLE,
    "bad_encoding": UNREADABLE,
    "unsupported_type": UNREADABLE,
    "type_mismatch": UNREADABLE,
    "bad_html": UNREADABLE,
    "empty": replace(UNUSABLE, failure="FAIL_EMPTY"),
    "not_a_feed": UNPARSED,
    "not_a_sitemap": UNPARSED,
    "parse_failed": UNPARSED,
    "parse_timeout": UNPARSED,
    # The request is not allowed.
    "address_refused": FORBIDDEN,
    "invalid_url": FORBIDDEN,
    "robots_blocked": replace(FORBIDDEN, dead_letter=False),
    # The configured proxy refuses this target: no request reached the host.
    "proxy_refused": replace(BROKEN, failure="FAIL_HTTP"),
    # Postponed by us: neither host nor URL is at fault.
    "robots_unavailable": POSTPONED,
    "robots_elsewhere": POSTPONED,
    "crawl_delay": POSTPONED,
    "circuit_open": POSTPONED,
    "own_outage": POSTPONED,
    "store_lost": POSTPONED,
    "proxy_failed": POSTPONED,
    "route_down": POSTPONED,
    "bind_failed": POSTPONED,
    "shutdown": POSTPONED,
}
"""Outcomes by name of the failure, without a usable status. Every other name is a fault of ours: retried, then dead."""


@lru_cache(maxsize=1024)
def judge(result: int | str, *, task_kind: str) -> Outcome:
    """The outcome of a fetch for a task of this kind; `result` is an HTTP status or a key of FAILURES.

    An article, page, archive or media file that fails permanently is dead. A feed, sitemap or WebSub lease is
    rescheduled by its cadence after any failure, and never becomes a dead letter.
    """
    found = by_status(result) if isinstance(result, int) else replace(FAILURES.get(result, BROKEN), reason=result)
    if task_kind not in RECURRING or found.fate in ("done", "follow") or found.kind == "postponed":
        return found
    return replace(found, fate="reschedule", failure=None, dead_letter=False)


def fault(outcome: Outcome) -> Fault:
    """The party at fault for a failed fetch: `ours` if the reason is unknown, or if our network or our store was down.

    `none` if the fetch succeeded or no request was made.
    """
    if outcome.reason in OURS or (outcome.reason not in FAILURES and not outcome.reason.startswith("http_")):
        return "none" if outcome.kind in SUCCEEDED else "ours"
    return "none" if outcome.kind in (*SUCCEEDED, "forbidden", "postponed") else "publisher"


def by_status(status: int) -> Outcome:
    """The outcome of a response with this status."""
    found = STATUSES.get(status)
    if found is None:
        return replace(FAILURES["protocol"], reason="protocol")
    return replace(found, reason=f"http_{status}")


def probe_signal(result: int | str) -> Signal:
    """The signal of the probe of a half-open circuit: a response closes the circuit unless its status is site-wide.

    Every failure without a response, time-outs included, keeps the circuit open, even where it is not site-wide
    otherwise.
    """
    answered = isinstance(result, int) and result in STATUSES
    return "ok" if answered and by_status(int(result)).signal != "site" else "site"


def retry_wait_sec(base_sec: float, attempts: int) -> float:
    """Seconds until the next try after `attempts` earlier failures: the base, doubled for each of them, up to a day."""
    return min(base_sec * 2.0 ** min(attempts, 64), max(base_sec, LONGEST_RETRY_WAIT_SEC))


def given_up(outcome: Outcome) -> Outcome:
    """The outcome once no attempts are left: dead, with the same reason, if the task would be tried again."""
    return replace(outcome, fate="dead") if outcome.failure and outcome.fate in ("retry", "give_back") else outcome
