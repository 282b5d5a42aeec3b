import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence import CadencePolicy, Observation, next_poll
from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.publisher_hints import PublisherHints
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription, dump, load_polls, load_subscription

LATIN_1 = st.none() | st.text(st.characters(max_codepoint=255), min_size=1, max_size=20)
TEXTS = st.none() | st.text(min_size=1, max_size=20)
SECONDS = st.none() | st.floats(1, 1e6)
JSON = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), min_size=1, max_size=3)

SUBSCRIPTIONS = st.builds(
    Subscription,
    id=st.uuids().map(str),
    url=st.text(min_size=1, max_size=30),
    categories=st.lists(st.text(max_size=8), max_size=3).map(tuple),
    title=TEXTS,
    added_at=TEXTS,
    source=TEXTS,
    priority=st.integers(1, 10),
    min_interval_sec=SECONDS,
    max_interval_sec=SECONDS,
)
POLLS = st.builds(
    PollRecord,
    etag=LATIN_1,
    last_modified=LATIN_1,
    body_hash=TEXTS,
    raw=st.none() | JSON,
    type=st.sampled_from(["rss", "atom", "json"]),
    title=TEXTS,
    interval_sec=SECONDS,
    candidates=st.lists(st.tuples(st.text(max_size=5), st.floats(0, 1e6)), max_size=3).map(tuple),
    retry_after_sec=SECONDS,
    last_status=st.none() | st.integers(100, 599),
    new_entries_last_fetch=st.integers(0, 1000),
    ids=st.none() | JSON,
)


@given(subscription=SUBSCRIPTIONS, polls=POLLS)
def test_records_come_back_as_they_went(subscription: Subscription, polls: PollRecord) -> None:
    assert load_subscription(dump(subscription)) == subscription
    assert load_polls(dump(polls)) == polls


def test_a_feed_that_was_never_polled() -> None:
    assert load_polls(None) == load_polls("") == PollRecord()
    assert PollRecord().cadence_state == PollState()


def test_unknown_fields_of_another_version_are_ignored() -> None:
    subscription = Subscription("1", "http://a.test/")
    assert load_subscription(json.dumps({"id": "1", "url": "http://a.test/", "colour": "blue"})) == subscription
    assert load_polls('{"etag":"x","colour":1}') == PollRecord(etag="x")


def test_a_record_leaves_out_default_values() -> None:
    written = dump(Subscription("1", "http://a.test/"))
    assert json.loads(written) == {"id": "1", "url": "http://a.test/", "priority": 5}
    assert dump(PollRecord()) == '{"type":"unknown"}'


NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
HINTS = PublisherHints(ttl_minutes=60, skip_hours=frozenset({3, 1}), skip_days=frozenset({"Sun"}))


def test_the_public_record_of_a_feed() -> None:
    seen = Observation(200, new_entries=2, known_entries=1, hints=HINTS)
    state = next_poll(PollState(), seen, now=NOW, policy=CadencePolicy(), jitter=0).state
    subscription = Subscription(
        "1", "http://a.test/feed", ("news",), added_at="2026-11-01T00:00:00Z", min_interval_sec=600.4
    )
    polls = PollRecord(
        etag='"1"',
        trust={"etag": "restless"},
        type="rss",
        title="A feed",
        site_url="http://a.test/",
        cadence=to_json(state),
        interval_sec=900.4,
        next_at="2026-11-27T12:15:00Z",
        last_decision_at="2026-11-27T12:00:00Z",
        reason="initial",
        retry_after_sec=29.6,
        last_fetch_at="2026-11-27T12:00:00Z",
        last_success_at="2026-11-27T12:00:00Z",
        last_status=200,
        last_result="fetched",
        new_entries_last_fetch=2,
    )
    assert Feed(subscription, polls).public(min_interval_sec=300, max_interval_sec=86_400) == {
        "id": "1",
        "url": "http://a.test/feed",
        "type": "rss",
        "title": "A feed",
        "site_url": "http://a.test/",
        "categories": ["news"],
        "added_at": "2026-11-01T00:00:00Z",
        "request_id": None,
        "page": None,
        "formerly": [],
        "paused": False,
        "entries_only": False,
        "user_agent": None,
        "keep_rules": "",
        "drop_rules": "",
        "private": [],
        "validators": {"etag": '"1"', "last_modified": None, "not_sent": ["etag: restless"]},
        "schedule": {
            "interval_sec": 900,
            "min_interval_sec": 600,
            "max_interval_sec": 86_400,
            "fixed_interval_sec": None,
            "push_only": False,
            "last_decision_at": "2026-11-27T12:00:00Z",
            "next_at": "2026-11-27T12:15:00Z",
            "reason": "initial",
            "retry_after_sec": 30,
        },
        "publisher_hints": {"ttl_minutes": 60, "skip_hours": [1, 3], "skip_days": ["Sun"]},
        "stats": {
            "last_fetch_at": "2026-11-27T12:00:00Z",
            "last_success_at": "2026-11-27T12:00:00Z",
            "last_status": 200,
            "last_result": "fetched",
            "consecutive_failures": 0,
            "ewma_interarrival_sec": None,
            "new_entries_last_fetch": 2,
            "last_item_count": 0,
            "possibly_missed": 0,
            "quiet_since": None,
        },
    }


def test_a_new_feed_has_a_record_of_the_same_shape() -> None:
    polled = Feed(Subscription("1", "u"), PollRecord()).public(min_interval_sec=300, max_interval_sec=86_400)
    assert polled["schedule"]["interval_sec"] is None
    assert polled["publisher_hints"] == {"ttl_minutes": None, "skip_hours": None, "skip_days": None}
    assert json.loads(json.dumps(polled)) == polled


def test_a_title_that_an_operator_gave_comes_first() -> None:
    feed = Feed(Subscription("1", "u", title="Ours"), PollRecord(title="Theirs"))
    assert feed.public(min_interval_sec=1, max_interval_sec=2)["title"] == "Ours"
