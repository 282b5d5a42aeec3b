"""One poll, from the response to its result: entries compared, tasks for new entries, the time of the next poll."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from feedcrawl.domain import cadence
from feedcrawl.domain.cadence import arrivals
from feedcrawl.domain.cadence.quiet import EXPECTED, is_quiet
from feedcrawl.domain.cadence.reasons import in_words
from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.cadence.values import DAY_SEC, PollState
from feedcrawl.domain.dates import moment, rfc3339, rfc3339_or_none
from feedcrawl.domain.entries.parts import names_a_place
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.outage import OF_OWN_NETWORK
from feedcrawl.domain.frontier.payloads import OF_REDIRECTS, filled, without
from feedcrawl.domain.frontier.priority import LOWEST
from feedcrawl.domain.frontier.traces import TRACE, carried
from feedcrawl.domain.http import validators
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.publisher_hints import PublisherHints
from feedcrawl.domain.push import leases
from feedcrawl.domain.subscriptions import health
from feedcrawl.domain.subscriptions.moves import after_poll, is_settled, move_from
from feedcrawl.domain.urls import canonicalize, hostname, url_uid
from feedcrawl.services.articles.evidence import evidence
from feedcrawl.services.articles.tasks import TaskOptions, article_task, explicit
from feedcrawl.services.subscriptions import outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.cadence import CadencePolicy, Decision
    from feedcrawl.domain.entries.records import EntryRecord, EntryValues
    from feedcrawl.domain.frontier.payloads import Patch, Payload
    from feedcrawl.domain.frontier.tasks import Again, Task
    from feedcrawl.domain.models import ParsedEntry
    from feedcrawl.domain.push.leases import HubSubscription
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.domain.subscriptions.moves import Move
    from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
    from feedcrawl.items import Decided, FeedPoll

GONE_PROBE_SEC = 7 * 86_400.0
"""Seconds between two polls of a retired feed."""
ON_THE_WAY = (*OF_REDIRECTS, "whole", "search", TRACE)
"""Payload fields that a poll's task carries between its requests, removed at the end of the poll."""


def back_home(task: Task, url: str) -> Patch:
    """The patch that moves a poll's task back to its feed's URL, after a redirect or a page led it elsewhere."""
    if task.url == url and not any(name in task.payload for name in ON_THE_WAY):
        return {}
    return {"url": url, "host": hostname(url), "payload": without(task.payload, ON_THE_WAY) or None}


def observation(poll: FeedPoll) -> cadence.Observation:
    """The result of a poll in the form that the cadence reads."""
    dates = [entry.published for entry in poll.received.parsed.entries] if poll.received.parsed else []
    counts = (
        len(poll.found.entries.new),
        poll.found.entries.known + len(poll.found.entries.changed),
        len(poll.found.entries.new),
    )
    return outcomes.observation(poll.received, dates, counts, poll.received.hints or PublisherHints())


def policy_for(feed: Feed, policy: CadencePolicy) -> CadencePolicy:
    """The cadence policy with the feed's own bounds."""
    subscription = feed.subscription
    shortest = subscription.min_interval_sec or policy.min_interval_sec
    longest = max(subscription.max_interval_sec or policy.max_interval_sec, shortest)
    first = min(max(subscription.initial_interval_sec or policy.initial_interval_sec, shortest), longest)
    return _bounded(policy, shortest, longest, first)


@lru_cache(maxsize=1024)
def _bounded(policy: CadencePolicy, shortest_sec: float, longest_sec: float, first_sec: float) -> CadencePolicy:
    return replace(policy, min_interval_sec=shortest_sec, max_interval_sec=longest_sec, initial_interval_sec=first_sec)


def decide(poll: FeedPoll, push: HubSubscription | None, policy: CadencePolicy, jitter: float) -> Decision:
    """The time of the next poll of this feed, and the reason. `push`: the feed's subscription at its hub."""
    subscription, before, own = poll.feed.subscription, poll.feed.polls, policy_for(poll.feed, policy)
    decision = cadence.next_poll(
        before.cadence_state, observation(poll), now=poll.received.at, policy=own, jitter=jitter
    )
    if not poll.received.failed and (subscription.fixed_interval_sec or subscription.push_only):
        wait = (
            ("fixed", subscription.fixed_interval_sec)
            if subscription.fixed_interval_sec
            else ("push-only", own.max_interval_sec)
        )
        return cadence.fixed(decision, cadence.Candidate(*wait), poll.received.at)
    if not poll.received.failed and push is not None and leases.relied_on(push, now=poll.received.at.timestamp()):
        wait_sec = max(leases.backup_sec(push, now=poll.received.at.timestamp()), own.min_interval_sec)
        return cadence.fixed(decision, cadence.Candidate("push-backup", wait_sec), poll.received.at)
    for wait in failure_waits(poll, decision):
        decision = cadence.at_least(decision, wait, poll.received.at)
    return decision


def failure_waits(poll: FeedPoll, decision: Decision) -> Iterator[cadence.Candidate]:
    """The waits of a failed poll in addition to the cadence's back-off, including one that keeps the back-off
    from shrinking.
    """
    if not poll.received.failed:
        return
    before = poll.feed.polls
    yield from health.least_waits(
        health_after(poll),
        status=poll.received.status,
        errors=decision.state.errors,
        probe_sec=GONE_PROBE_SEC,
    )
    backing_off = decision.reason.startswith("error-backoff") and (before.reason or "").startswith("error-backoff")
    if backing_off and before.interval_sec:
        yield cadence.Candidate("error-backoff", min(before.interval_sec, DAY_SEC))


def health_after(poll: FeedPoll) -> health.Health:
    """The feed's health after this poll."""
    before = health.health_from(poll.feed.polls.health)
    return health.after(
        before, failed=poll.received.failed, status=poll.received.status, now=poll.received.at.timestamp()
    )


def interval_ratio(feed: Feed, at: datetime) -> float | None:
    """The time since the previous poll divided by the chosen interval; None for a feed's first poll."""
    before = feed.polls
    last = moment(before.last_fetch_at)
    return (at - last).total_seconds() / before.interval_sec if last and before.interval_sec else None


def poll_record(poll: FeedPoll, decided: Decided) -> PollRecord:
    """The record that the next poll begins with. Validators change only with a body that was read, or with a 304."""
    at, before, succeeded = rfc3339(poll.received.at), poll.feed.polls, not poll.received.failed
    return replace(
        before,
        **outcomes.scheduled(poll.received, decided.decision),
        last_decision_at=at,
        demand=decided.demand,
        retry_after_sec=poll.received.retry_after_sec,
        new_entries_last_fetch=len(poll.found.entries.new),
        health=health_after(poll).to_record(),
        searched_at=at if poll.found.searched else before.searched_at,
        possibly_missed=before.possibly_missed + poll.found.entries.possibly_missed,
        last_success_at=at if succeeded else before.last_success_at,
        quiet_since=_quiet_since(poll, decided.decision) if succeeded else before.quiet_since,
        **(_learnt(poll, decided.subscription.url) if succeeded else {}),
    )


def _quiet_since(poll: FeedPoll, decision: Decision) -> str | None:
    """The time at which the feed was first found quiet; None if it is not."""
    if not is_quiet(decision.state, poll.received.at.timestamp()):
        return None
    return poll.feed.polls.quiet_since or rfc3339(poll.received.at)


def without_last_failure(polls: PollRecord) -> PollRecord:
    """The record without the last poll's failure to reach the host, which our own outage caused."""
    state = polls.cadence_state
    if polls.last_result not in OF_OWN_NETWORK or not state.errors:
        return polls
    health_before = health.uncounted(health.health_from(polls.health)).to_record()
    return replace(polls, cadence=to_json(replace(state, errors=state.errors - 1)), health=health_before)


def preconditions(feed: Feed, now: datetime) -> validators.Preconditions:
    """The kind of request for a feed; the expected number of new entries is computed only if the decision needs
    it.
    """
    polls, at = feed.polls, now.timestamp()
    trust = validators.trust_from(polls.trust)
    known = polls.cadence_state.arrivals if validators.may_probe(trust, at) else None
    expected = arrivals.expected(known, trust.whole_at, at) if known is not None else 0.0
    return validators.preconditions(trust, Validators(polls.etag, polls.last_modified), now=at, expected=expected)


def trust_after(poll: FeedPoll) -> validators.Trust:
    """The trust in the feed's validators after a response."""
    before, now = poll.feed.polls, poll.received.at.timestamp()
    trust, stored = validators.trust_from(before.trust), Validators(before.etag, before.last_modified)
    if poll.lease.task.payload.get("whole") == "deaf":
        trust = validators.after(trust, validators.Reply("test", stored, Validators(), unmodified=True), now)
    reply = validators.Reply(
        poll.requested.kind,
        stored,
        poll.received.validators or Validators(),
        unmodified=poll.received.result == "not_modified",
        first=before.digest is None,
        changed=poll.received.digest is not None and poll.received.digest != before.digest,
        news=bool(poll.found.entries.new),
    )
    return validators.after(trust, reply, now)


def state_changes(before: PollRecord, after: PollRecord) -> Iterator[tuple[str, dict[str, str]]]:
    """The changes of state by this poll that an operator should know: the name and the details of each event."""
    old, new = health.health_from(before.health), health.health_from(after.health)
    if new.retired and not old.retired:
        yield "feed_retired", {"reason": "gone", "detail": in_words("gone")}
    if after.quiet_since and not before.quiet_since:
        yield "feed_quiet", {"reason": "quiet", "detail": _silence(after.cadence_state)}
    if new.opened and not old.opened:
        yield "feed_circuit_open", {"reason": "error-budget", "detail": in_words("error-budget")}
    marks = validators.trust_from(after.trust).marks if before.trust != after.trust else ()
    if marks and set(marks) - set(validators.trust_from(before.trust).marks):
        detail = "its server uses these validators wrongly: they are not sent until it proves them right"
        yield "validators_marked", {"reason": ", ".join(marks), "detail": detail}


def _silence(state: PollState) -> str:
    newest = state.arrivals.newest if state.arrivals is not None else state.last_arrival or 0.0
    last = rfc3339(datetime.fromtimestamp(newest, UTC), "seconds")
    return f"no new entry since {last}; by its own pace {EXPECTED:.0f} or more should have come"


def move_of(poll: FeedPoll) -> Move | None:
    """The target of permanent redirects behind which the feed's entries were found, at its first poll any entries;
    failed polls do not count.
    """
    before = move_from(poll.feed.polls.moving)
    if poll.received.failed or "search" in poll.lease.task.payload:
        return before
    first = poll.feed.polls.last_success_at is None
    shares = first or poll.received.parsed is None or bool(poll.found.entries.known or poll.found.entries.changed)
    return after_poll(before, poll.received.moved_to if shares else None, now=poll.received.at)


def new_home(poll: FeedPoll) -> Subscription | None:
    """The subscription at the address to which its feed has moved for good; None if the feed stays."""
    subscription, move = poll.feed.subscription, move_of(poll)
    settled = not poll.received.failed and move is not None and is_settled(move, subscription.url, now=poll.received.at)
    url = poll.found.found_at or (move.url if settled and move is not None else None)
    return None if url is None or url in subscription.refused else moved_to(subscription, url)


def moved_to(subscription: Subscription, url: str) -> Subscription:
    """The subscription at another address, with its former addresses."""
    formerly = [each for each in dict.fromkeys((*subscription.formerly, subscription.url)) if each != url]
    return replace(subscription, url=url, formerly=tuple(formerly))


def _learnt(poll: FeedPoll, url: str) -> dict[str, Any]:
    """The fields of the record that a response teaches. `url`: the feed's address after the poll."""
    before, received, entries = poll.feed.polls, poll.received, poll.found.entries
    newest = outcomes.newest(received, Validators(before.etag, before.last_modified))
    move = move_of(poll)
    fields: dict[str, Any] = {
        "etag": newest.etag,
        "last_modified": newest.last_modified,
        "trust": trust_after(poll).to_record(),
        "moving": move.to_record() if move is not None and move.url != url else None,
    }
    if received.body_hash is not None:
        raw = received.raw_ref.source if received.raw_ref is not None else None
        fields |= {
            "body_hash": received.body_hash,
            "body_bytes": received.body_bytes,
            "digest": received.digest,
            "raw": raw,
        }
    if received.parsed is None:
        return fields
    if entries.over_limit:  # fetch the document again, for the entries left over
        fields |= {"etag": None, "last_modified": None, "body_hash": None, "digest": None}
    elif entries.waits:
        fields |= {"body_hash": None, "digest": None}
    if received.parsed.is_truncated:  # a 304 would hide the rest; the validators of the same body again count
        fields |= {"etag": None, "last_modified": None}
    onward = poll.found.onward
    return fields | {
        "archives": onward.step.reason if onward is not None and not onward.walk.gap else before.archives,
        "shown": len(received.parsed.entries),
        "type": feed_type(received.parsed.format),
        "title": received.parsed.title,
        "site_url": received.parsed.link,
        "ids": entries.identity,
    }


def entry_tasks(poll: FeedPoll) -> Iterator[tuple[Task, Again]]:
    """A task for the article of each new, changed or edited entry, the newest of the new entries first, with the reason
    why a known task comes again.
    """
    subscription = poll.feed.subscription
    if subscription.entries_only:
        return
    new = {id(entry) for entry in poll.found.entries.new}
    newest_first = sorted(poll.found.entries.new, key=lambda entry: entry["published"] or "", reverse=True)
    for entry in (*newest_first, *poll.found.entries.changed, *poll.found.entries.edited):
        if entry["link"] is None or entry["article_uid"] is None:
            continue
        payload = provenance(poll, entry)
        if id(entry) not in new:
            payload["edited"] = True
        try:
            options = TaskOptions(
                "feed",
                subscription.source,
                subscription.categories,
                explicit(subscription.priority),
                parent=subscription.url,
                payload=payload,
            )
            task = article_task(entry["link"], poll.requested.sources, options)
        except InvalidUrl:
            continue
        # The page of an entry that names a place on it may be known from an earlier entry, and have changed since.
        edited: Again = "edited" if payload.get("edited") or names_a_place(entry["link"]) else ""
        yield replace(task, priority=LOWEST) if poll.requested.is_archive else task, edited


def provenance(poll: FeedPoll, entry: EntryRecord) -> Payload:
    """The part of an article task's payload that names its source: where the URL was found, and the entry's
    content.
    """
    fields = {
        **evidence(entry),
        "part": (entry["canonical_link"] or "").partition("#")[2],
        "feed_title": poll.received.parsed.title if poll.received.parsed else None,
        **carried(poll.lease.task.payload),
    }
    return filled(fields)


def entry_values(parsed: ParsedEntry, sources: Sources, named: str | None = None) -> EntryValues:
    """The fields of an entry that its publisher wrote, in the shape of docs/data-format.md. `named` is the feed's
    source.
    """
    canonical, uid = _identity(parsed.link, sources, named)
    return {
        "canonical_link": canonical,
        "article_uid": uid,
        "link": parsed.link,
        "title": parsed.title,
        "summary": parsed.summary,
        "content": parsed.content,
        "authors": [{"name": each.name, "email": each.email, "uri": each.uri} for each in parsed.authors],
        "categories": list(parsed.categories),
        "enclosures": [{"url": each.url, "type": each.type, "length": each.length} for each in parsed.enclosures],
        "published": rfc3339_or_none(parsed.published),
        "updated": rfc3339_or_none(parsed.updated),
        "published_raw": parsed.published_raw,
        "language": parsed.language,
        "image": parsed.image,
        "raw": parsed.raw.decode("utf-8", "replace") if parsed.raw is not None else None,
    }


def _identity(url: str | None, sources: Sources, named: str | None) -> tuple[str, str] | tuple[None, None]:
    """The canonical form of a link and its uid; None for both if there is no link (another scheme, malformed)."""
    try:
        keep = sources.keeps_trailing_slash(url or "", named)
        return canonicalize(url or "", keep_trailing_slash=keep), url_uid(url or "", keep_trailing_slash=keep)
    except InvalidUrl:
        return None, None


def feed_type(form: str) -> str:
    """The type (`rss`, `atom`, `json`, `cdf`) of a format such as rss2.0."""
    return form.rstrip("0123456789.") or form
