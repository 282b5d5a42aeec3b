import json
from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.domain.subscriptions.search import Failing, Search, is_found, search_from, under_scheme, where_to_look

NOW = datetime(2026, 11, 28, tzinfo=UTC)
URL = "http://a.test/feed"


@pytest.mark.parametrize(
    ("feed", "where"),
    [
        (Failing("html", 3, URL, known=True), "site"),
        (Failing("soft_404", 9, URL, known=True), "site"),
        (Failing("http_404", 3, URL, known=True), "site"),
        (Failing("http_410", 3, URL, known=True), "site"),
        (Failing("html", 2, URL, known=True), None),
        (Failing("html", 3, URL, known=False), None),
        (Failing("challenge_page", 9, URL, known=True), None),
        (Failing("login_page", 9, URL, known=True), None),
        (Failing("http_503", 9, URL, known=True), None),
        (Failing("html", 3, URL, known=True, searched_at=NOW - timedelta(hours=23)), None),
        (Failing("html", 3, URL, known=True, searched_at=NOW - timedelta(hours=24)), "site"),
        (Failing("refused", 2, URL, known=True), "https"),
        (Failing("connect_timeout", 2, URL, known=False), "https"),
        (Failing("http_426", 2, "HTTP://a.test", known=True), "https"),
        (Failing("refused", 1, URL, known=True), None),
        (Failing("refused", 9, "http://a.test:8080/feed", known=True), None),  # which port would it be?
        (Failing("refused", 9, "https://a.test/feed", known=True), None),
        (Failing("dns", 9, URL, known=True), None),
        (Failing("tls", 1, "https://a.test/feed", known=False, guessed=True), "http"),
        (Failing("refused", 1, "https://a.test:8080/feed", known=False, guessed=True), "http"),
        (Failing("tls", 1, "https://a.test/feed", known=False), None),
        (Failing("tls", 9, "https://a.test/feed", known=True, guessed=True), None),
        (Failing("dns", 1, "https://a.test/feed", known=False, guessed=True), None),
        (Failing("tls", 1, "https://a.test/", known=False, searched_at=NOW, guessed=True), None),
    ],
)
def test_when_a_feed_is_looked_for(feed: Failing, where: str | None) -> None:
    assert where_to_look(feed, NOW) == where


@pytest.mark.parametrize(
    ("shared", "entries", "known", "found"),
    [(3, 20, True, True), (2, 20, True, False), (2, 2, True, True), (0, 0, True, False), (0, 9, False, True)],
)
def test_a_feed_is_known_again_by_its_entries(shared: int, entries: int, *, known: bool, found: bool) -> None:
    assert is_found(shared, entries, known=known) is found


def test_the_same_address_under_https() -> None:
    assert under_scheme("http://a.test/feed?x=1", "https") == "https://a.test/feed?x=1"
    assert under_scheme("https://a.test:80/feed", "http") == "http://a.test:80/feed"


def test_a_search_survives_as_json() -> None:
    search = Search("html", 200, at_page=True, places=("http://a.test/",))
    assert search_from(json.loads(json.dumps(search.to_record()))) == search
