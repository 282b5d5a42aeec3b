"""Entries out of the daily files: whatever the moment, feed and size of a page, each comes once and in order."""

import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.subscriptions import stored_entries
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.subscriptions.entries import Entries

START = datetime(2026, 11, 27, 22, tzinfo=UTC)
FEEDS = ["0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e", "5d2c8f5c-27ee-4b0a-8f3c-51a8a1b0c111"]


@pytest.fixture
def lines(tmp_path: Path) -> NdjsonFile:
    return NdjsonFile(tmp_path / "entries")


def line(number: int, at: datetime, feed: str = FEEDS[0], size: int = 10) -> dict[str, Any]:
    record = {"entry_uid": f"id-{number}", "feed_id": feed, "content": f'"feed_id":"{FEEDS[1]}" ' + "x" * size}
    return record | {"first_seen": rfc3339(at), "last_seen": rfc3339(at), "seen_count": 1}


def all_pages(lines: NdjsonFile, since: datetime, **how: Any) -> list[str]:
    found, place = [], None
    for _ in range(10_000):
        page, place = stored_entries.page(lines, since, after=place, **how)
        found += [each["entry_uid"] for each in page]
        if place is None:
            return found
    pytest.fail("it does not end")


@pytest.fixture
def written(lines: NdjsonFile) -> list[dict[str, Any]]:
    """Four hours over midnight, nearly in order, some lines very long."""
    chance = random.Random(7)
    records = []
    for number in range(3000):
        at = START + timedelta(seconds=5 * number - chance.uniform(0, 60))
        size = 300_000 if number % 500 == 0 else chance.randrange(2000)
        records.append(line(number, at, FEEDS[number % 2], size))
    for day in (date(2026, 11, 27), date(2026, 11, 28)):
        lines.append(day, *(each for each in records if each["last_seen"][:10] == day.isoformat()))
    return sorted(records, key=lambda each: each["last_seen"][:10])


@pytest.mark.parametrize("minutes", [-600, 0, 1, 60, 119, 120, 121, 200, 249, 600])
@pytest.mark.parametrize("feed", [None, *FEEDS])
def test_entries_since_a_moment_are_returned(
    lines: NdjsonFile, written: list[dict[str, Any]], minutes: int, feed: str | None
) -> None:
    since = START + timedelta(minutes=minutes)
    wanted = [each for each in written if each["last_seen"] >= rfc3339(since) and feed in (None, each["feed_id"])]
    assert all_pages(lines, since, feed_id=feed, limit=97) == [each["entry_uid"] for each in wanted]


def test_a_page_that_reads_enough_ends_early(
    lines: NdjsonFile, written: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_entries, "PART_BYTES", 50_000)
    monkeypatch.setattr(stored_entries, "BUDGET_BYTES", 200_000)
    page, place = stored_entries.page(lines, START - timedelta(days=1), feed_id="none")
    assert page == []
    assert place is not None
    assert all_pages(lines, START - timedelta(days=1), feed_id="none") == []
    assert len(all_pages(lines, START - timedelta(days=1), limit=1000)) == 3000


def test_a_late_moment_of_a_large_day_is_found_without_reading_the_whole_day(
    lines: NdjsonFile, written: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    block = NdjsonFile._block

    def counted(self: NdjsonFile, day: date, start: int, size: int) -> bytes:
        nonlocal read
        found = block(self, day, start, size)
        read += len(found)
        return found

    monkeypatch.setattr(NdjsonFile, "_block", counted)
    monkeypatch.setattr(stored_entries, "PART_BYTES", 100_000)
    last = max(each["last_seen"] for each in written)
    page, place = stored_entries.page(lines, datetime.fromisoformat(last), limit=50)
    assert ([each["last_seen"] for each in page], place) == ([last], None)
    assert read < lines.size(date(2026, 11, 28)) * 2 / 3


@pytest.mark.parametrize(
    "place", [(-1.0, "2026-11-27"), (0.0, "x"), (1e300, "2026-11-27"), (float("nan"), "2026-11-27")]
)
def test_a_foreign_cursor_is_refused(lines: NdjsonFile, place: tuple[float, str]) -> None:
    with pytest.raises(Refusal, match="bad_cursor"):
        stored_entries.page(lines, START, after=place)


def test_a_place_within_a_line_costs_that_line(lines: NdjsonFile) -> None:
    lines.append(START.date(), *(line(number, START) for number in range(5)))
    page, _ = stored_entries.page(lines, START, after=(3.0, "2026-11-27"))
    assert [each["entry_uid"] for each in page] == [f"id-{number}" for number in range(1, 5)]


def test_an_incomplete_line_is_returned_by_a_later_page(lines: NdjsonFile, tmp_path: Path) -> None:
    lines.append(START.date(), line(1, START))
    with (tmp_path / "entries" / "2026-11-27.ndjson").open("ab") as file:
        file.write(b'{"entry_uid":"id-2"')
    assert all_pages(lines, START) == ["id-1"]


def test_an_entry_is_returned_in_its_last_version(lines: NdjsonFile, redis_client: redis.Redis) -> None:
    first, second = line(1, START), line(1, START + timedelta(hours=1)) | {"title": "New"}
    lines.append(START.date(), first, line(2, START, FEEDS[1]), second)
    known = Entries(redis_client)
    (found,) = stored_entries.find(lines, known, "id-1")
    assert found["title"] == "New"
    for uid, feed in (("id-1", FEEDS[1]), ("id-3", None), ("id-1", FEEDS[0])):  # of the last no lineage is kept
        with pytest.raises(Refusal, match="entry_unknown"):
            stored_entries.find(lines, known, uid, feed)


@pytest.mark.parametrize("uid", ['say "hi"', "back\\slash", "line\nend", "\u2028", "naïve", "tag:a,2026:x"])
def test_uids_are_any_text(lines: NdjsonFile, redis_client: redis.Redis, uid: str) -> None:
    lines.append(START.date(), line(1, START) | {"entry_uid": uid})
    (found,) = stored_entries.find(lines, Entries(redis_client), uid)
    assert found["entry_uid"] == uid
