import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.domain.operations.kafka_messages import Message, NewEntry, WebpageEvent, message_of

TOPICS = {"webpage_fetched": "webpage_log", "new_entry": "new_entry"}
URL = "https://news.test/b?x=ä"
PAGE: dict[str, Any] = {
    "type": "webpage_fetched",
    "url": URL,
    "cache_key": "webpage:" + "0" * 64,
    "status_code": 200,
    "content_type": None,
    "content_length": 649,
    "content_hash": "a" * 64,
    "fetched_at": "2026-11-28T00:33:05Z",
}
ENTRY: dict[str, Any] = {
    "entry_uid": "tag:news.test,2026:bridge",
    "feed_id": "0d63020a-ef80-4076-b20d-10c0346f7a6b",
    "published": None,
    "canonical_link": "https://news.test/b",
    "raw_refs": [{"fetch_id": "2f33718a-5b02-4dd1-a800-3f7931979a90"}],
    "ingested_at": "2026-11-28T00:33:04.151000Z",
}
MORE = {"title": "A bridge", "article_uid": "cc02fb5fb5814a26", "content_hash": "b" * 64}


def event_of(kind: str, data: Any, /, **fields: str) -> dict[str, str]:
    return {"type": kind, "id": f"{kind}:1", "data": json.dumps(data)} | fields


def hexed(text: str) -> bytes:
    return hashlib.sha256(text.encode()).hexdigest().encode()


def test_an_event_of_a_page_is_sent_unchanged() -> None:
    sent = message_of(event_of("webpage_fetched", PAGE), TOPICS)
    assert isinstance(sent, Message)
    assert (sent.topic, sent.key, sent.id) == ("webpage_log", hexed(URL), "webpage_fetched:1")
    assert json.loads(sent.value) == PAGE
    assert WebpageEvent.model_validate_json(sent.value).url == URL


def test_an_entry_goes_with_the_fields_of_its_topic_alone() -> None:
    sent = message_of(event_of("new_entry", ENTRY | MORE), TOPICS | {"new_entry": "fresh"})
    assert isinstance(sent, Message)
    assert (sent.topic, sent.key, sent.id) == ("fresh", hexed("https://news.test/b"), "new_entry:1")
    assert json.loads(sent.value) == ENTRY
    assert NewEntry.model_validate_json(sent.value).published is None


def test_an_entry_without_a_link_has_a_key_of_its_own() -> None:
    sent = message_of(event_of("new_entry", ENTRY | {"canonical_link": None}), TOPICS)
    assert isinstance(sent, Message)
    assert sent.key == hexed("0d63020a-ef80-4076-b20d-10c0346f7a6b:tag:news.test,2026:bridge")


@pytest.mark.parametrize("kind", ["article_ready", "entry_updated", "", "of another program"])
def test_of_other_events_kafka_gets_nothing(kind: str) -> None:
    assert message_of(event_of(kind, {}), TOPICS) is None


@pytest.mark.parametrize(
    ("event", "reason", "detail"),
    [
        ({}, "gone", "deleted"),
        (event_of("webpage_fetched", PAGE, id=""), "no_id", "id"),
        (event_of("webpage_fetched", PAGE, data="{"), "bad_json", "line 1"),
        (event_of("webpage_fetched", PAGE, data="[" * 100_000), "bad_json", ""),
        ({"type": "webpage_fetched", "id": "1"}, "bad_json", "line 1"),
        (event_of("webpage_fetched", [PAGE]), "bad_fields", "data: "),
        (event_of("webpage_fetched", PAGE | {"more": 1}), "bad_fields", "more: Extra"),
        (event_of("webpage_fetched", PAGE | {"status_code": "200"}), "bad_fields", "status_code: "),
        (event_of("webpage_fetched", PAGE | {"status_code": 0}), "bad_fields", "status_code: "),
        (event_of("webpage_fetched", PAGE | {"content_hash": "x"}), "bad_fields", "content_hash: "),
        (event_of("webpage_fetched", PAGE | {"fetched_at": "yesterday"}), "bad_fields", "fetched_at: "),
        (event_of("webpage_fetched", PAGE | {"url": "http://a.test/\ud800"}), "bad_fields", ""),
        (event_of("webpage_fetched", {**PAGE, "type": "new_entry"}), "bad_fields", "type: "),
        (
            event_of("new_entry", {**ENTRY, "raw_refs": [{"fetch_id": "x", "file": "y"}]}),
            "bad_fields",
            "raw_refs.0.file: ",
        ),
        (event_of("new_entry", {name: ENTRY[name] for name in ENTRY if name != "feed_id"}), "bad_fields", "feed_id: "),
    ],
)
def test_an_event_that_can_never_be_sent_has_a_reason(event: dict[str, str], reason: str, detail: str) -> None:
    found = message_of(event, TOPICS)
    assert isinstance(found, Unprocessable)
    assert found.reason == reason
    assert detail in found.detail
    assert len(found.detail) <= 200


@given(st.dictionaries(st.sampled_from(["type", "id", "data"]), st.text() | st.sampled_from(sorted(TOPICS))))
def test_any_event_is_skipped_or_unprocessable(event: dict[str, str]) -> None:
    assert message_of(event, TOPICS) is None or isinstance(message_of(event, TOPICS), Unprocessable)
