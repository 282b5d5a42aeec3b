"""Cursors and moments as callers bring them, those of other routes and of nobody too: never a failure of ours."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from callers import Callers, callers

from feedcrawl.api.paging import cursor_of, place_of
from feedcrawl.domain.errors import Refusal

PAGED = [
    "/feeds",
    "/entries",
    "/articles",
    "/articles?host=a.test",
    "/collections/default",
    "/collections/default.atom",
]
PAGED += ["/collections/default.json", "/frontier/urls", "/dlq", "/dashboard/articles"]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callers]:
    """An API on a server of its own, since nothing here changes anything."""
    with callers("", tmp_path_factory.mktemp("data"), API_RATE=0) as made:
        yield made


def written(place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def test_a_place_comes_back() -> None:
    assert place_of(None) is None
    assert place_of(cursor_of((1.5, "\u00e9"))) == (1.5, "\u00e9")


@pytest.mark.parametrize("place", [[float("nan"), "a"], [float("inf"), "a"], [-float("inf"), "a"], [0.0, "\ud800"]])
def test_a_place_that_no_store_can_order_is_refused(place: list[Any]) -> None:
    with pytest.raises(Refusal, match="bad_cursor"):
        place_of(written(place))


@pytest.mark.parametrize("path", PAGED)
def test_no_cursor_breaks_a_page(local: Callers, path: str) -> None:
    client = local.client()
    names = ["", "a", "\0", "x\r\ny", "2026-11-28", "9" * 39, "9" * 20, f"{'9' * 20}:", f"{'9' * 19}:", "0:\0"]
    scores = (float("nan"), 0.0, 0.5, -1.0, 5.0, 1e17, 1e308)
    for content in ([score, name] for score in scores for name in names):
        answer = client.get(f"{path}{'&' if '?' in path else '?'}cursor={written(content)}")
        assert answer.status_code in (200, 400), content


def test_a_cursor_of_the_dashboard_is_a_cursor_of_scan(local: Callers) -> None:
    assert local.client().get(f"/dashboard/frontier/urls?cursor={'9' * 30}").status_code == 400


@pytest.mark.parametrize(
    ("since", "status"),
    [
        ("2026-11-28", 200),
        ("2026-11-28T12:00:00", 200),
        ("2026-11-28T12:00:00%2B12:00", 200),
        ("0001-01-01T00:00:00Z", 200),
        ("0001-01-01T00:00:00%2B12:00", 422),  # the year 0 in UTC
        ("9999-12-31T23:59:59-12:00", 422),
        ("1764331200", 422),
    ],
)
def test_a_moment_has_a_place_in_utc(local: Callers, since: str, status: int) -> None:
    client = local.client()
    feed_id = client.post("/feeds", json={"url": "https://a.example/feed"}).json()["id"]
    for path in ("/entries", "/articles", f"/feeds/{feed_id}/entries"):
        assert client.get(f"{path}?since={since}").status_code == status, path
