"""What a fetch came to: one table from HTTP status or failure to host signal, the task's fate and its reason code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from feedcrawl.domain.frontier.outage import AGAIN_SEC
from feedcrawl.domain.http.robots_access import RETRY_SEC

Kind = Literal[
    "fetched",  # an answer to work with
    "not_modified",  # 304
    "redirect",  # to a URL that is to be followed
    "gone",  # 410
    "rejected",  # any other answer that says no for good
    "throttled",  # 429
    "unreachable",  # the whole site fails
    "unstable",  # this answer failed; another try may do better
    "unusable",  # an answer that cannot be read
    "forbidden",  # we may not ask
    "postponed",  # nothing was asked, through no fault of the URL
]
Signal = Literal["ok", "site", "soft", "throttled"]
Fate = Literal[
    "done",  # the task has ended well
    "follow",  # the same task goes on with the redirect's target
    "retry",  # again after `retry_wait_sec`, which counts as an attempt
    "give_back",  # again when the host may be asked, without an attempt
    "reschedule",  # the poll has failed; the cadence says when to come again
    "dead",  # never again by itself
]
Failure = Literal["FAIL_BAD_HTML", "FAIL_HTTP", "FAIL_TIMEOUT", "FAIL_PARSE", "FAIL_EMPTY"]

Fault = Literal["none", "publisher", "ours"]

WELL: tuple[Kind, ...] = ("fetched", "not_modified", "redirect")
PAUSES_SEC: Final = {"robots_unavailable": RETRY_SEC, "own_outage": AGAIN_SEC}
"""How long a task waits at least that was postponed for a reason which outlasts its host's turn."""
OURS = frozenset({"own_outage", "store_lost"})
RECURRING = frozenset({"feed", "sitemap", "websub"})
"""Kinds of task that are never removed: a failure reschedules them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one fetch came to.

    `signal` goes to the host's circuit (None: it says nothing of the host); `fate` to the frontier. `reason` is the
    code that log, metric, journal and API share (`http_404`, `read_timeout`). `failure` is the article's failure code
    and `dead_letter` whether it goes to the dead letters, once the task is dead.
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
"""By final status (RFC 9110, 15). Any other number is no final status: a protocol error."""

FAILURES: dict[str, Outcome] = {
    # The host, or the way to it, fails.
    "dns": UNREACHABLE,
    "refused": UNREACHABLE,
    "unreachable": UNREACHABLE,
    "connect_timeout": replace(UNREACHABLE, failure="FAIL_TIMEOUT"),
    "tls": UNREACHABLE,
    # The answer broke off.
    "read_timeout": TIMED_OUT,
    "total_timeout": TIMED_OUT,
    "connection_lost": UNSTABLE,
    "truncated": UNSTABLE,
    "protocol": UNSTABLE,
    # The answer came, and is of no use.
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
    # We do not ask.
    "address_refused": FORBIDDEN,
    "invalid_url": FORBIDDEN,
    "robots_blocked": replace(FORBIDDEN, dead_letter=False),
    # Nobody's fault but ours.
    "robots_unavailable": POSTPONED,
    "robots_elsewhere": POSTPONED,
    "crawl_delay": POSTPONED,
    "circuit_open": POSTPONED,
    "own_outage": POSTPONED,
    "store_lost": POSTPONED,
    "shutdown": POSTPONED,
}
"""By name of what went wrong, where there is no usable status. Any other name is our own fault: retried, then dead."""


def judge(result: int | str, *, task_kind: str) -> Outcome:
    """What a fetch that ended in `result`, an HTTP status or a key of FAILURES, means for a task of this kind.

    An article, page or archive that fails for good is dead; a feed, sitemap or push lease is rescheduled by its
    cadence instead, whatever happened, and is never a dead letter.
    """
    found = by_status(result) if isinstance(result, int) else replace(FAILURES.get(result, BROKEN), reason=result)
    if task_kind not in RECURRING or found.fate in ("done", "follow") or found.kind == "postponed":
        return found
    return replace(found, fate="reschedule", failure=None, dead_letter=False)


def fault(outcome: Outcome) -> Fault:
    """Whose a failed fetch is: ours where no rule knows it, or where our network or server is away. What was not asked
    has not failed.
    """
    if outcome.reason in OURS or (outcome.reason not in FAILURES and not outcome.reason.startswith("http_")):
        return "none" if outcome.kind in WELL else "ours"
    return "none" if outcome.kind in (*WELL, "forbidden", "postponed") else "publisher"


def by_status(status: int) -> Outcome:
    """The outcome of an answer with this status."""
    found = STATUSES.get(status)
    if found is None:
        return replace(FAILURES["protocol"], reason="protocol")
    return replace(found, reason=f"http_{status}")


def probe_signal(result: int | str) -> Signal:
    """What the probe of a half-open circuit says: an answer closes it unless the site fails; no answer keeps it open.

    A time-out is no answer here, though it is not site-wide elsewhere.
    """
    answered = isinstance(result, int) and result in STATUSES
    return "ok" if answered and by_status(int(result)).signal != "site" else "site"


def retry_wait_sec(base_sec: float, attempts: int) -> float:
    """Seconds until the next try, where `attempts` had failed before this one did: the base, then twice as long, …"""
    return base_sec * 2.0**attempts


def given_up(outcome: Outcome) -> Outcome:
    """The same failure when no attempts are left: dead, with its reason."""
    return replace(outcome, fate="dead") if outcome.failure and outcome.fate in ("retry", "give_back") else outcome
