"""Which entry speaks for an article that several feeds name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from feedcrawl.services.archive.replay import entry_content

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def entry(feed: str, title: str, hour: int = 11, uid: str = "guid") -> Any:
    return {
        "feed_id": feed,
        "entry_uid": uid,
        "title": title,
        "summary": None,
        "content": None,
        "authors": [],
        "published": None,
        "updated": f"2026-11-28T{hour}:00:00Z",
        "language": None,
        "image": None,
        "categories": [],
        "last_seen": f"2026-11-28T{hour}:00:00.000Z",
    }


OWN, OTHER, LATER = entry("own", "Own"), entry("other", "Other"), entry("own", "Later", hour=13)


@pytest.mark.parametrize(
    ("entries", "before", "title"),
    [
        ([OWN, OTHER], {"feed_id": "own", "entry_uid": "guid"}, "Own"),
        ([OTHER, OWN], {"feed_id": "own", "entry_uid": "guid"}, "Own"),
        ([OWN, OTHER], {"feed_id": "other", "entry_uid": "guid"}, "Other"),
        ([OWN, entry("own", "Twin", uid="twin")], {"feed_id": "own", "entry_uid": "guid"}, "Own"),
        ([OWN, LATER], {"feed_id": "own", "entry_uid": "guid"}, "Own"),
        ([LATER], {"feed_id": "own", "entry_uid": "guid"}, "Later"),
        ([OWN, OTHER], None, "Other"),
        ([OWN, OTHER], {"failure": "FAIL_EMPTY"}, "Other"),
        ([OTHER], {"feed_id": "own", "entry_uid": "guid"}, None),
        ([], None, None),
    ],
)
def test_the_entry_of_an_article(entries: Any, before: Any, title: str | None) -> None:
    assert entry_content(entries, before, NOON).get("title") == title
