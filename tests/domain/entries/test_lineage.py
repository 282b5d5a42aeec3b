from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.domain.entries.lineage import (
    CALM_POLLS,
    MAX_STRIKES,
    MAX_TEXT_REVISIONS,
    IdQuality,
    KnownEntry,
    known_from_json,
    withdrawn,
)

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
ENTRY = KnownEntry("1", "id", "hash0", "title", "id:1", None, NOW, NOW)


def revisions(step: timedelta, polls: int, title: str = "title") -> list[int]:
    entry, made = ENTRY, []
    for poll in range(1, polls + 1):
        later = entry.revised(content_hash=f"hash{poll}", title_key=f"{title}{poll}"[:5], now=NOW + poll * step)
        if later:
            entry = later
            made.append(poll)
    assert entry.revisions == len(made)
    return made


def test_the_first_edit_counts_at_once_and_an_equal_hash_is_no_edit():
    assert ENTRY.revised(content_hash="hash0", title_key="other", now=NOW) is None
    revised = ENTRY.revised(content_hash="hash1", title_key="other", now=NOW)
    assert revised is not None
    assert (revised.content_hash, revised.title_key, revised.revisions, revised.revised_at) == (
        "hash1",
        "other",
        1,
        NOW,
    )


def test_a_text_that_always_changes_makes_few_revisions():
    assert revisions(HOUR / 4, 200) == [1, 5, 13, 29, 61, 125]
    assert len(revisions(timedelta(days=2), 100)) == MAX_TEXT_REVISIONS


def test_a_change_that_had_to_wait_is_reported_later():
    first = ENTRY.revised(content_hash="hash1", title_key="title", now=NOW)
    assert first is not None
    assert first.revised(content_hash="hash2", title_key="title", now=NOW + HOUR / 2) is None
    assert first.revised(content_hash="hash2", title_key="title", now=NOW + HOUR) is not None


def test_a_new_title_makes_a_revision_however_many_there_were():
    restless = KnownEntry("1", "id", "h", "title", None, None, NOW, NOW, revisions=MAX_TEXT_REVISIONS, revised_at=NOW)
    later = NOW + 48 * HOUR
    assert restless.revised(content_hash="other", title_key="title", now=later) is None
    assert restless.revised(content_hash="other", title_key="new title", now=later) is not None


PUBLISHED = replace(ENTRY, published=NOW - 9 * HOUR)


@pytest.mark.parametrize(
    ("known", "edited", "differs"),
    [
        (PUBLISHED, None, False),
        (PUBLISHED, NOW - 8 * HOUR, True),
        (PUBLISHED, NOW - 10 * HOUR, False),
        (replace(PUBLISHED, edited=NOW - 8 * HOUR), NOW - 8 * HOUR, False),
        (replace(PUBLISHED, edited=NOW - 8 * HOUR), NOW - 7 * HOUR, True),
        (replace(PUBLISHED, edited=NOW - 8 * HOUR), NOW - 9 * HOUR, False),  # an older document
        (ENTRY, NOW, False),
        (ENTRY, NOW + HOUR, True),  # since it was first seen
    ],
)
def test_a_newer_date_of_edit_makes_a_revision(known, edited, differs):
    assert known.differs(content_hash="hash0", edited=edited) is differs
    revised = known.revised(content_hash="hash0", title_key="title", now=NOW, edited=edited)
    assert (revised is not None) is differs
    if revised is not None:
        assert (revised.edited, revised.revisions, revised.content_hash) == (edited, 1, "hash0")
        assert not revised.differs(content_hash="hash0", edited=edited)


@pytest.mark.parametrize(
    ("edited", "date", "outdates"),
    [(NOW, NOW - HOUR, True), (NOW, NOW, False), (NOW, NOW + HOUR, False), (NOW, None, False), (None, NOW, False)],
)
def test_an_older_version_is_recognised_by_its_dates_alone(edited, date, outdates):
    assert replace(PUBLISHED, edited=edited).outdates(date) is outdates


def test_dates_of_edits_without_end_count_as_often_as_texts_that_always_change():
    entry, made = ENTRY, []
    for poll in range(1, 200):
        later = entry.revised(
            content_hash="hash0", title_key="title", now=NOW + poll * HOUR / 4, edited=NOW + poll * HOUR
        )
        if later:
            entry = later
            made.append(poll)
    assert made == revisions(HOUR / 4, 200)


def test_seen_again():
    later = NOW + HOUR
    seen = ENTRY.seen(id_key="id:2", published=NOW, now=later)
    assert (seen.seen_count, seen.first_seen, seen.last_seen) == (2, NOW, later)
    assert (seen.id_key, seen.published) == ("id:2", NOW)
    again = seen.seen(id_key=None, published=None, now=NOW)
    assert (again.last_seen, again.id_key, again.published) == (later, "id:2", NOW)


@pytest.mark.parametrize("entry", [ENTRY, ENTRY.seen(id_key="id:é", published=NOW, now=NOW + HOUR)])
def test_json_goes_both_ways(entry):
    assert known_from_json(entry.to_json()) == entry
    assert known_from_json(entry.to_json().replace("{", '{"later":1,', 1)) == entry


def polls(quality: IdQuality, *seen: str) -> IdQuality:
    for seen_entry in seen:
        quality = quality.after(repeated=seen_entry == "repeated", changed=seen_entry == "changed")
    return quality


@pytest.mark.parametrize(
    ("seen", "rule"),
    [
        (["good"], "id"),
        (["repeated"], "link"),
        (["changed"], "id"),
        (["changed"] * (MAX_STRIKES - 1) + ["good"] + ["changed"] * (MAX_STRIKES - 1), "id"),
        (["changed"] * MAX_STRIKES, "link"),
        (["repeated"] + ["good"] * (CALM_POLLS - 1), "link"),
        (["repeated"] + ["good"] * CALM_POLLS, "id"),
        (["repeated"] + ["good"] * (CALM_POLLS - 1) + ["changed"] + ["good"] * (CALM_POLLS - 1), "link"),
        (["repeated", "good"] * CALM_POLLS, "link"),
        (["changed"] * CALM_POLLS * 2, "link"),
    ],
)
def test_trust_in_ids_goes_fast_and_comes_back_slowly(seen, rule):
    assert polls(IdQuality(), *seen).rule == rule


def test_an_entry_missing_from_a_complete_feed_is_withdrawn_once_and_may_return():
    others = [replace(ENTRY, uid=uid) for uid in "23"]
    gone = withdrawn([ENTRY, *others], {"2", "3"}, NOW + HOUR)
    assert [(each.uid, each.deleted) for each in gone] == [("1", NOW + HOUR)]
    assert withdrawn([*gone, *others], {"2", "3"}, NOW + 2 * HOUR) == ()
    assert known_from_json(gone[0].to_json()) == gone[0]
    back = gone[0].seen(id_key="id:1", published=None, now=NOW + 3 * HOUR)
    assert (back.deleted, back.returned(NOW + 3 * HOUR).revisions) == (None, 1)
