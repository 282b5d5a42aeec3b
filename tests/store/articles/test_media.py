from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis

from feedcrawl.domain.articles.media import fragments, new_media
from feedcrawl.store.articles.media import MediaRecords

MEDIA = new_media("0123456789abcdef", "http://a.test/é", "2026-11-28T00:00:00.000Z")
LATER = replace(MEDIA, processing_status="ready_for_reading", content_hash="ab" * 32)
KEY = f"fc:{{0}}:media:{MEDIA.media_id}"


@pytest.fixture
def records(redis_client: redis.Redis) -> MediaRecords:
    return MediaRecords(redis_client, life_sec=700)


def test_a_record_is_written_whole_and_lives(
    records: MediaRecords, queue: Callable[..., Any], redis_client: redis.Redis
) -> None:
    assert records.get(MEDIA.media_id) is None
    for media in (MEDIA, LATER, LATER):
        queue(records.write, media)
        assert records.get(MEDIA.media_id) == media
    assert records.read(queue(records.query, MEDIA.media_id)[0]) == LATER
    assert 0 < redis_client.ttl(KEY) <= 700


def test_a_held_record_does_not_expire_after_a_change(
    records: MediaRecords, queue: Callable[..., Any], redis_client: redis.Redis
) -> None:
    queue(records.hold, MEDIA)
    assert redis_client.ttl(KEY) == -1
    queue(records.write, LATER)
    assert (redis_client.ttl(KEY), records.get(MEDIA.media_id)) == (-1, LATER)


def test_an_existing_record_is_held_unchanged(
    records: MediaRecords, queue: Callable[..., Any], redis_client: redis.Redis
) -> None:
    queue(records.write, LATER)
    queue(records.hold, MEDIA)
    assert (redis_client.ttl(KEY), records.get(MEDIA.media_id)) == (-1, LATER)


def article(text: str) -> dict[str, Any]:
    return {"uid": MEDIA.uid, "title": text.title(), "content_html": f"<p>{text}", "clean_text": text}


def test_a_released_record_expires(records: MediaRecords, queue: Callable[..., Any], redis_client: redis.Redis) -> None:
    queue(records.hold, LATER)
    queue(records.keep, LATER, article("é"))
    fragments_key = KEY.replace(":media:", ":fragments:")
    assert redis_client.ttl(fragments_key) == -1
    queue(records.release, LATER.media_id)
    assert 0 < redis_client.ttl(KEY) <= 700
    assert 0 < redis_client.ttl(fragments_key) <= 700
    queue(records.hold, LATER)
    assert (redis_client.ttl(KEY), redis_client.ttl(fragments_key)) == (-1, -1)


def test_a_held_article_is_kept_in_its_last_version(records: MediaRecords, queue: Callable[..., Any]) -> None:
    newer = replace(LATER, content_hash="cd" * 32)
    queue(records.keep, LATER, article("old"))
    assert records.get_all([MEDIA.media_id]) == [None]
    queue(records.hold, LATER)
    assert records.get_all([MEDIA.media_id, "none"]) == [LATER, None]
    (stored, parts), (about, no_parts) = records.kept([LATER, MEDIA])
    assert stored == {"uid": MEDIA.uid, "title": "Old"} == about
    assert (parts, no_parts) == (fragments("<p>old", "old"), [])
    queue(records.keep, newer, article("new"))
    assert records.kept([newer])[0][0] == stored | {"title": "New"}


def test_fragments_of_a_version_never_change(records: MediaRecords, queue: Callable[..., Any]) -> None:
    assert records.fragments(MEDIA) == records.fragments(LATER) == []
    queue(records.keep, MEDIA, article("none"))  # no version yet
    queue(records.keep, LATER, article("é"))
    queue(records.keep, LATER, article("other"))
    assert records.fragments(LATER) == fragments("<p>é", "é")
    newer = replace(LATER, content_hash="cd" * 32)
    queue(records.keep, newer, article("new"))
    assert (records.fragments(newer), records.fragments(LATER)) == (fragments("<p>new", "new"), fragments("<p>é", "é"))
