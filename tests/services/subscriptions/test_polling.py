import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from polls import decided, feed_poll

from feedcrawl.domain import dates
from feedcrawl.domain.cadence import Decision
from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.cadence.values import CadencePolicy, PollState
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.http.conditional import Validators
from feedcrawl.domain.models import ParsedEntry, ParsedFeed, Person
from feedcrawl.domain.publisher_hints import PublisherHints
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.subscriptions.moves import Move
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.domain.urls import url_uid
from feedcrawl.items import FeedPoll
from feedcrawl.services.subscriptions import lineage, polling
from feedcrawl.services.subscriptions.journal import journal_line, moved_line

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
SUBSCRIPTION = Subscription("f", "http://a.test/feed", ("news", "tech"), priority=6)
BEFORE = PollRecord(etag='"1"', last_modified="then", body_hash="old", interval_sec=900.0, last_success_at="before")
POLICY = CadencePolicy(name="baseline")
TASK = Task("feed:f", "feed", SUBSCRIPTION.url, "a.test")


def entry(uid: str, link: str | None = None, **fields: Any) -> Any:
    link = f"http://a.test/{uid}?utm_source=rss" if link is None else link or None
    values: dict[str, Any] = {
        "entry_uid": uid,
        "feed_id": "f",
        "feed_url": SUBSCRIPTION.url,
        "canonical_link": f"http://a.test/{uid}",
        "title": "Title",
        "summary": "Summary",
        "content": None,
        "authors": [{"name": "Ada", "email": None}, {"name": None, "email": "x@a.test"}],
        "categories": ["tag"],
        "enclosures": [],
        "published": "2026-11-27T11:00:00Z",
        "updated": None,
        "first_seen": "2026-11-27T12:00:00.000Z",
        "last_seen": "2026-11-27T12:00:00.000Z",
        "seen_count": 1,
        "content_hash": "cd" * 32,
        "article_uid": url_uid(f"http://a.test/{uid}"),
        "link": link,
    }
    empty = dict.fromkeys(("published_raw", "language", "image", "raw"))
    return empty | {"raw_refs": [], "revision": 1, "files": [], "type": "entry"} | values | fields


def poll(result: str = "fetched", status: int | None = 200, **fields: Any) -> FeedPoll:
    lease, feed = Lease(fields.pop("task", TASK), History(), "1-x"), fields.pop("feed", Feed(SUBSCRIPTION, BEFORE))
    return feed_poll(lease, "f@then", NOW, status, result, feed, **fields)


def record_of(made: FeedPoll, subscription: Subscription | None = None) -> PollRecord:
    return polling.poll_record(made, decided(made, subscription, POLICY))


def line_of(made: FeedPoll, subscription: Subscription | None = None) -> Any:
    return journal_line(made, decided(made, subscription, POLICY))


PARSED = ParsedFeed(format="rss2.0", title="A feed", link="http://a.test/")


@pytest.mark.parametrize(
    ("last", "interval", "ratio"),
    [(None, 900.0, None), ("2026-11-27T10:00:00Z", None, None), ("2026-11-27T10:00:00Z", 900.0, 2.0)],
)
def test_how_punctual_a_poll_is(last: str | None, interval: float | None, ratio: float | None) -> None:
    feed = Feed(SUBSCRIPTION, replace(BEFORE, last_fetch_at=last, interval_sec=interval))
    assert polling.interval_ratio(feed, datetime(2026, 11, 27, 10, 30, tzinfo=UTC)) == ratio


# --- what the cadence is shown ---


@pytest.mark.parametrize(
    ("result", "status", "shown"),
    [
        ("fetched", 200, 200),
        ("unchanged", 200, 200),
        ("not_modified", 304, 304),
        ("html", 200, None),  # an answer that is no feed is none
        ("parse_timeout", 200, None),
        ("http_503", 503, 503),
        ("http_404", 404, 404),
        ("dns", None, None),
    ],
)
def test_status_that_the_cadence_sees(result: str, status: int | None, shown: int | None) -> None:
    assert polling.observation(poll(result, status)).status == shown


def test_entries_that_the_cadence_sees() -> None:
    moments = [NOW - timedelta(hours=2), NOW + timedelta(days=400), None, NOW - timedelta(hours=1)]
    parsed = replace(PARSED, entries=tuple(ParsedEntry(published=moment) for moment in moments))
    seen = polling.observation(
        poll(parsed=parsed, new=[entry("1"), entry("2")], changed=[entry("3")], known=4, max_age_sec=60.0)
    )
    assert (seen.new_entries, seen.known_entries) == (2, 5)
    assert seen.published == (NOW - timedelta(hours=1), NOW - timedelta(hours=2))  # newest first, the future not
    assert seen.first_seen == (NOW, NOW)
    assert seen.max_age_sec == 60.0
    assert seen.hints == PublisherHints()


@pytest.mark.parametrize(
    ("own", "bounds"),
    [
        ({}, (300.0, 86_400.0)),
        ({"min_interval_sec": 600.0}, (600.0, 86_400.0)),
        ({"max_interval_sec": 3600.0}, (300.0, 3600.0)),
        ({"min_interval_sec": 100_000.0}, (100_000.0, 100_000.0)),
        ({"max_interval_sec": 60.0}, (300.0, 300.0)),
    ],
)
def test_bounds_of_a_feed_come_before_the_policys(own: dict[str, float], bounds: tuple[float, float]) -> None:
    policy = polling.policy_for(Feed(replace(SUBSCRIPTION, **own), PollRecord()), POLICY)
    assert (policy.min_interval_sec, policy.max_interval_sec) == bounds


# --- what a poll leaves ---


def test_a_document_that_was_read_moves_all_on() -> None:
    raw = SimpleNamespace(source={"fetch_id": "x"})
    identity = {"rule": "link"}
    record = record_of(
        poll(parsed=PARSED, validators=Validators('"2"', None), body_hash="new", raw_ref=raw, identity=identity)
    )
    assert (record.etag, record.last_modified, record.body_hash) == ('"2"', None, "new")
    assert (record.type, record.title, record.site_url) == ("rss", "A feed", "http://a.test/")
    assert (record.raw, record.ids) == ({"fetch_id": "x"}, identity)
    assert record.last_success_at == record.last_fetch_at == "2026-11-27T12:00:00.000Z"
    assert record.cadence_state != PollState()
    assert record.next_at == dates.rfc3339(NOW + timedelta(seconds=record.interval_sec or 0))


def test_a_304_keeps_the_validators_that_it_does_not_send() -> None:
    record = record_of(poll("not_modified", 304, validators=Validators(None, "now")))
    assert (record.etag, record.last_modified, record.body_hash) == ('"1"', "now", "old")
    assert record.last_success_at == "2026-11-27T12:00:00.000Z"


def test_an_unchanged_body_brings_its_validators() -> None:
    record = record_of(poll("unchanged", 200, validators=Validators('"2"', None)))
    assert (record.etag, record.last_modified, record.body_hash) == ('"2"', None, "old")


def test_a_truncated_document_leaves_no_validators_until_it_comes_again() -> None:
    known = Feed(SUBSCRIPTION, replace(BEFORE, body_hash="new"))
    cut, received = replace(PARSED, notes=("truncated",)), Validators('"2"', "now")
    record = record_of(poll(parsed=cut, body_hash="new", validators=received))
    assert (record.etag, record.last_modified, record.body_hash) == (None, None, "new")
    again = record_of(poll("unchanged", 200, feed=known, validators=received))
    assert (again.etag, again.last_modified) == ('"2"', "now")


@pytest.mark.parametrize(
    ("result", "status"), [("html", 200), ("parse_timeout", 200), ("http_503", 503), ("dns", None), ("too_large", 200)]
)
def test_a_failure_moves_no_validator(result: str, status: int | None) -> None:
    record = record_of(poll(result, status, validators=Validators('"2"', "now"), body_hash="new"))
    assert (record.etag, record.last_modified, record.body_hash) == ('"1"', "then", "old")
    assert (record.last_success_at, record.last_result, record.last_status) == ("before", result, status)
    assert record.last_fetch_at == "2026-11-27T12:00:00.000Z"


def test_a_line_of_the_journal_has_the_reason_and_no_empty_fields() -> None:
    line = line_of(poll("dns", None, detail="x" * 300))
    assert line["poll_id"] == "f@then"
    assert line["reason"]
    assert line["interval_before_sec"] == 900.0
    assert len(line["detail"]) == 200
    assert not {"http_status", "new", "notes", "fetch_id", "bytes"} & set(line)
    assert json.loads(json.dumps(line)) == line


def test_a_move_has_a_line_with_both_addresses() -> None:
    moved = line_of(poll(parsed=PARSED, known=3), replace(SUBSCRIPTION, url="http://new.test/"))
    assert (moved["moved_from"], moved["moved_to"]) == (SUBSCRIPTION.url, "http://new.test/")
    line = moved_line(Feed(SUBSCRIPTION, BEFORE), "http://b.test/", NOW)
    assert (line["moved_from"], line["moved_to"], line["result"]) == (SUBSCRIPTION.url, "http://b.test/", "moved")


# --- what may have been missed ---


@pytest.mark.parametrize(
    ("shown", "seen", "missed"),
    [
        (20, {"new": [entry("1")]}, True),
        (0, {"new": [entry("1")]}, False),  # the first poll, or a feed that was empty
        (20, {"new": [entry("1")], "known": 1}, False),
        (20, {"new": [entry("1")], "changed": [entry("2")]}, False),
        (20, {"new": [entry("1")], "migrated": True}, False),
        (20, {}, False),
    ],
)
def test_possibly_missed_entries_are_recognised(shown: int, seen: dict[str, Any], *, missed: bool) -> None:
    found = poll(parsed=PARSED, feed=Feed(SUBSCRIPTION, replace(BEFORE, shown=shown)), **seen)
    assert lineage.possibly_missed(found, found.found.entries) is missed
    again = poll(parsed=PARSED, feed=found.feed, possibly_missed=missed, **seen)
    assert record_of(again).possibly_missed == int(missed)


# --- overrides, and patience with what fails ---


def decision_of(result: str, status: int | None, subscription: Subscription = SUBSCRIPTION, **before: Any) -> Decision:
    return polling.decide(poll(result, status, feed=Feed(subscription, replace(BEFORE, **before))), None, POLICY, 0)


@pytest.mark.parametrize(
    ("override", "result", "status", "reason", "wait"),
    [
        ({"fixed_interval_sec": 60.0}, "not_modified", 304, "fixed", 60.0),
        ({"push_only": True}, "not_modified", 304, "push-only", 86_400.0),
        ({"push_only": True, "max_interval_sec": 7200.0}, "not_modified", 304, "push-only", 7200.0),
        ({"fixed_interval_sec": 60.0}, "http_503", 503, "error-backoff", 1800.0),
    ],
)
def test_an_override_decides(
    override: dict[str, Any], result: str, status: int, reason: str, wait: float
) -> None:  # fmt: skip
    decision = decision_of(result, status, replace(SUBSCRIPTION, **override))
    assert (decision.reason, decision.interval_sec) == (reason, wait)
    assert decision.candidates[-1].rule == reason


@pytest.mark.parametrize(
    ("before", "wait"),
    [
        ({"reason": "error-backoff", "interval_sec": 30_000.0}, 30_000.0),  # a 503 after eight hours of silence
        ({"reason": "error-backoff", "interval_sec": 1_000.0}, 1_800.0),
        ({"reason": "retry-after", "interval_sec": 30_000.0}, 1_800.0),
        ({"reason": "no-new-entries", "interval_sec": 30_000.0}, 1_800.0),
    ],
)
def test_back_off_never_gets_shorter(before: dict[str, Any], wait: float) -> None:
    assert decision_of("http_503", 503, **before).interval_sec == wait


def test_a_retired_feed_is_looked_for_once_a_week() -> None:
    gone = {"day": [], "gone_since": NOW.timestamp() - 90_000}
    found = decision_of("http_410", 410, health=gone)
    assert (found.reason, found.interval_sec) == ("error-backoff+gone", polling.GONE_PROBE_SEC)
    record = record_of(poll("http_410", 410, feed=Feed(SUBSCRIPTION, replace(BEFORE, health=gone))))
    assert record.health is not None
    assert record.health["retired"] is True
    back = poll(parsed=PARSED, feed=Feed(SUBSCRIPTION, record))
    assert (record_of(back).health or {}).keys() == {"day"}


# --- validators ---


def test_a_poll_stores_the_trust_in_the_validators() -> None:
    deaf = replace(TASK, payload={"whole": "deaf"})
    before = replace(BEFORE, trust={"old": ['"0"', None], "test": True, "unmodified": 3}, digest="old")
    validators = Validators('"2"', "now")
    made = poll(task=deaf, parsed=PARSED, feed=Feed(SUBSCRIPTION, before), digest="new", validators=validators)
    record = record_of(made)
    assert record.trust == {"etag": "deaf", "whole_at": NOW.timestamp(), "probed_at": NOW.timestamp(), "proofs": 1}
    assert polling.preconditions(Feed(SUBSCRIPTION, record), NOW).validators == Validators(None, "now")
    assert polling.back_home(deaf, SUBSCRIPTION.url) == {"url": SUBSCRIPTION.url, "host": "a.test", "payload": None}


def test_an_unchanged_digest_stores_the_new_hash_and_counts_no_news() -> None:
    made = poll(
        "unchanged", 200, body_hash="stamped", digest="same", feed=Feed(SUBSCRIPTION, replace(BEFORE, digest="same"))
    )
    record = record_of(made)
    assert (record.body_hash, record.digest) == ("stamped", "same")
    assert record.trust == {"whole_at": NOW.timestamp(), "proofs": 1}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        ({}, {"trust": {"etag": "deaf", "last_modified": "deaf"}},
         [("validators_marked", {
             "reason": "etag: deaf, last_modified: deaf",
             "detail": "its server uses these validators wrongly: they are not sent until it proves them right"})]),
        ({"trust": {"etag": "deaf"}}, {"trust": {"etag": "deaf", "unmodified": 1}}, []),
        ({"trust": {"etag": "deaf"}}, {"trust": {}}, []),
        ({}, {"health": {"opened": 1}}, [("feed_circuit_open", {
            "reason": "error-budget", "detail": "half of a day's polls failed: its circuit is open"})]),
        ({"health": {"opened": 1}}, {"health": {"opened": 2}}, []),
        ({"health": {"gone_since": 1.0}}, {"health": {"gone_since": 1.0, "retired": True}},
         [("feed_retired", {
             "reason": "gone", "detail": "its publisher has removed it (410): polled rarely"})]),
        ({}, {"quiet_since": "2026-11-27T12:00:00Z", "cadence": to_json(PollState(last_arrival=1_780_000_000.0))},
         [("feed_quiet", {
             "reason": "quiet",
             "detail": "no new entry since 2026-05-28T20:26:40Z; by its own pace 8 or more should have come"})]),
        ({"quiet_since": "2026-11-27T12:00:00Z"}, {"quiet_since": "2026-11-27T12:00:00Z"}, []),
    ],
)  # fmt: skip
def test_changes_of_state_that_an_operator_should_know(
    before: dict[str, Any], after: dict[str, Any], expected: list[Any]
) -> None:
    assert list(polling.state_changes(PollRecord(**before), PollRecord(**after))) == expected


# --- new addresses ---


def test_a_feed_moves_to_the_place_of_its_entries_unless_it_was_moved_back() -> None:
    found = poll(parsed=PARSED, known=3, found_at="http://b.test/")
    home = polling.new_home(found)
    assert home is not None
    assert (home.url, home.formerly) == ("http://b.test/", (SUBSCRIPTION.url,))
    refusing = Feed(replace(SUBSCRIPTION, refused=("http://b.test/",)), BEFORE)
    assert polling.new_home(poll(parsed=PARSED, known=3, found_at="http://b.test/", feed=refusing)) is None
    assert polling.moved_to(home, SUBSCRIPTION.url).formerly == ("http://b.test/",)


def test_a_redirected_poll_begins_at_home_next_time() -> None:
    assert polling.back_home(TASK, SUBSCRIPTION.url) == {}
    away = replace(TASK, url="http://b.test/", host="b.test", payload={"redirect_chain": [SUBSCRIPTION.url]})
    assert polling.back_home(away, SUBSCRIPTION.url) == {"url": SUBSCRIPTION.url, "host": "a.test", "payload": None}
    resumed = replace(away, payload={"redirect_chain": [SUBSCRIPTION.url], "x": 1})
    assert polling.back_home(resumed, SUBSCRIPTION.url)["payload"] == {"x": 1}


# --- entries ---


def test_a_task_for_each_entry_with_a_page() -> None:
    made = poll(
        parsed=PARSED,
        new=[entry("1"), entry("2", link=""), entry("3", link="mailto:a@b.test", article_uid="x")],
        changed=[entry("4")],
        edited=[entry("5")],
    )
    tasks = list(polling.entry_tasks(made))
    assert [(task.url, again) for task, again in tasks] == [
        ("http://a.test/1?utm_source=rss", ""),
        ("http://a.test/4?utm_source=rss", "edited"),
        ("http://a.test/5?utm_source=rss", "edited"),
    ]
    task = tasks[0][0]
    assert (task.id, task.kind, task.category) == (url_uid("http://a.test/1"), "article", "news")
    assert (task.priority, task.origin, task.parent) == (8, "feed", SUBSCRIPTION.url)
    assert json.loads(json.dumps(task.payload)) == task.payload


def test_the_newest_of_the_new_entries_comes_first_and_those_without_a_date_last() -> None:
    days = {"1": 1, "2": None, "3": 3, "4": 2}
    new = [entry(each, published=day and f"2026-11-0{day}T08:00:00.000Z") for each, day in days.items()]
    urls = [task.url for task, _ in polling.entry_tasks(poll(new=new))]
    assert urls == [f"http://a.test/{number}?utm_source=rss" for number in "3412"]


def test_events_of_entries() -> None:
    new, updated = lineage.entry_events(poll(new=[entry("1")], changed=[entry("2")]))
    assert (new.type, new.id) == ("new_entry", "new_entry:f:1")
    assert (updated.type, updated.id) == ("entry_updated", f"entry_updated:f:2:{'cd' * 8}")
    assert json.loads(new.data)["ingested_at"] == "2026-11-27T12:00:00.000Z"


def test_fields_of_an_entry_keep_their_shape() -> None:
    parsed = ParsedEntry(
        link="http://A.test/1?utm_source=x",
        title="T",
        authors=(Person("Ada", None, None),),
        published=NOW,
        raw=b"<a\xff",
    )
    values = polling.entry_values(parsed, Sources())
    assert values["canonical_link"] == "http://a.test/1"
    assert values["authors"] == [{"name": "Ada", "email": None, "uri": None}]
    assert values["published"] == "2026-11-27T12:00:00Z"
    assert values["raw"] == "<a\N{REPLACEMENT CHARACTER}"
    assert polling.entry_values(ParsedEntry(), Sources())["canonical_link"] is None


@pytest.mark.parametrize(
    ("form", "type_"),
    [("rss2.0", "rss"), ("rss0.91", "rss"), ("atom1.0", "atom"), ("json1.1", "json"), ("cdf", "cdf"), ("1", "1")],
)
def test_type_of_a_format(form: str, type_: str) -> None:
    assert polling.feed_type(form) == type_


# --- where a feed has moved ---


def after(moving: Move | None, url: str = SUBSCRIPTION.url) -> Feed:
    record = moving.to_record() if moving is not None else None
    return Feed(replace(SUBSCRIPTION, url=url), replace(BEFORE, moving=record))


DAYS = NOW - timedelta(days=2)
NEW = "http://b.test/feed"


@pytest.mark.parametrize(
    ("moving", "fields", "left", "home"),
    [
        (None, {"moved_to": NEW, "known": 1, "parsed": PARSED}, Move(NEW, NOW, 1), None),
        (None, {"moved_to": NEW, "parsed": PARSED}, None, None),  # nothing there is known
        (Move(NEW, DAYS, 1), {"moved_to": NEW, "result": "unchanged"}, Move(NEW, DAYS, 2), None),
        (Move(NEW, DAYS, 2), {"moved_to": NEW, "known": 1, "parsed": PARSED}, Move(NEW, DAYS, 3), NEW),
        (Move(NEW, DAYS, 2), {"known": 1, "parsed": PARSED}, None, None),
        (Move(NEW, DAYS, 2), {"moved_to": NEW, "result": "html"}, Move(NEW, DAYS, 2), None),
        (None, {"moved_to": "https://a.test/feed", "result": "unchanged"}, None, "https://a.test/feed"),
    ],
)
def test_a_feed_moves_after_the_redirect_has_lasted(
    moving: Move | None, fields: dict[str, Any], left: Move | None, home: str | None
) -> None:
    moved = poll(feed=after(moving), **fields)
    found = polling.new_home(moved)
    assert (found.url if found is not None else None) == home
    if found is not None:
        assert found.formerly == (SUBSCRIPTION.url,)
        left = None
    assert record_of(moved, found).moving == (left.to_record() if left is not None else None)
