from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from feedcrawl.domain.entries.rewrites import Rewrite, rewrites
from feedcrawl.domain.models import ParsedEntry, ParsedFeed

DAY = datetime(2026, 11, 27, tzinfo=UTC)
A = ParsedEntry(native_id="a", link="http://a.test/a", title="One", summary="Said <b>so</b>", published=DAY)
B = ParsedEntry(link="http://a.test/b", title="Two")


def between(before: tuple[ParsedEntry, ...], after: tuple[ParsedEntry, ...]) -> list[Rewrite]:
    return list(rewrites(ParsedFeed("rss2.0", entries=before), ParsedFeed("rss2.0", entries=after)))


@pytest.mark.parametrize(
    ("change", "fields", "silent"),
    [
        ({"title": "One!"}, (("title", "One", "One!"),), True),
        ({"title": "One!", "updated": DAY}, (("title", "One", "One!"), ("updated", "", str(DAY))), False),
        ({"link": "http://a.test/z"}, (("link", "http://a.test/a", "http://a.test/z"),), False),
        ({"summary": "Said  <i>so</i>"}, (), False),  # markup and white space do not count
        ({"published": DAY.replace(day=28)}, (("published", str(DAY), "2026-11-28 00:00:00+00:00"),), False),
    ],
)
def test_a_rewritten_entry_is_listed_with_its_fields(
    change: dict[str, Any], fields: tuple[tuple[str, str, str], ...], *, silent: bool
) -> None:
    found = between((A, B), (replace(A, **change), B))
    assert [each.fields for each in found] == ([fields] if fields else [])
    assert [each.is_silent for each in found] == ([silent] if fields else [])


def test_added_and_removed_entries_are_listed() -> None:
    c = ParsedEntry(title="Three")
    assert between((A, B), (c, A)) == [Rewrite("added", "Three"), Rewrite("removed", "Two")]
    assert between((), ()) == []
