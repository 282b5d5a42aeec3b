from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from documents import paragraphs
from stories import Reader, wired_to

from feedcrawl.domain.articles.query import OUTLINE, ArticleFilter
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles import catalogue
from feedcrawl.services.articles.catalogue import Catalogue, Page


def text(name: str) -> str:
    return "\n".join(paragraphs(name, count=5))


def url(number: int, host: str = "a.paper.test") -> str:
    return f"http://{host}/{number}"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with wired_to(redis_server, tmp_path) as wired:
        yield Reader(wired)


def shelf(reader: Reader) -> Catalogue:
    return Catalogue(reader.wired.articles)


def all_pages(reader: Reader, wanted: ArticleFilter, limit: int) -> list[list[str]]:
    """The uids of each page, to the last."""
    pages, before = list[list[str]](), None
    while True:
        page = shelf(reader).page(wanted, reader.now, before=before, limit=limit)
        pages.append([each["uid"] for each in page.articles])
        before = page.next
        if before is None:
            return pages


def test_a_stored_article_is_returned_unchanged(reader: Reader) -> None:
    item = reader.read(url(1), text("a"), category="villages", authors=("Ada", "Bob"), image="http://a.paper.test/i")
    found = shelf(reader).get(item.uid)
    assert found.merged_into is None
    assert found.article == item.record | {"sightings": []}


def test_a_merged_article_leads_to_its_target(reader: Reader) -> None:
    winner = reader.read(url(1), text("a"))
    reader.read(url(1, "b.paper.test"), text("a"))
    assert shelf(reader).get(url_uid(url(1, "b.paper.test"))).merged_into == winner.uid
    found = shelf(reader).get(winner.uid).article
    assert found is not None
    assert found["sightings"] == [url(1, "b.paper.test")]


def test_a_failed_or_unknown_article_is_refused(reader: Reader) -> None:
    reader.fail(url(1))
    for uid, code in ((url_uid(url(1)), "article_failed"), (url_uid(url(2)), "article_unknown")):
        with pytest.raises(Refusal, match=code):
            shelf(reader).get(uid)


def test_pages_go_from_the_last_to_the_first(reader: Reader) -> None:
    items = [reader.read(url(n), text(f"story {n}")) for n in range(5)]
    newest = [item.uid for item in reversed(items)]
    assert all_pages(reader, ArticleFilter(), 2) == [newest[:2], newest[2:4], newest[4:]]
    first = shelf(reader).page(ArticleFilter(), reader.now, limit=1).articles[0]
    assert set(first) == set(OUTLINE) - {"deleted_at", "deleted_why"}
    assert first == {name: items[-1].record[name] for name in first}


def test_articles_stored_between_two_pages_are_not_repeated(reader: Reader) -> None:
    items = [reader.read(url(n), text(f"story {n}")) for n in range(4)]
    page = shelf(reader).page(ArticleFilter(), reader.now, limit=2)
    reader.read(url(3), text("anew"), again="edited")  # the last of the page is read anew, and now stands before it
    reader.read(url(9), text("late"))
    rest = shelf(reader).page(ArticleFilter(), reader.now, before=page.next, limit=9)
    assert [each["uid"] for each in rest.articles] == [items[1].uid, items[0].uid]


def test_articles_of_the_same_moment_are_listed_once(reader: Reader, redis_client: redis.Redis) -> None:
    uids = {reader.read(url(n), text(f"story {n}")).uid for n in range(5)}
    redis_client.zadd("rss:article_canonical_index", dict.fromkeys(uids, reader.now.timestamp()))
    found = all_pages(reader, ArticleFilter(), 2)
    assert [len(page) for page in found] == [2, 2, 1]
    assert {uid for page in found for uid in page} == uids


@pytest.mark.parametrize(
    ("conditions", "numbers"),
    [
        (ArticleFilter(category="even"), [4, 2, 0]),
        (ArticleFilter(category="none"), []),
        (ArticleFilter(host="b.paper.test"), [4, 3]),
        (ArticleFilter(language="en"), [4, 3, 2]),
        (ArticleFilter(language="de", category="even"), [0]),
        (ArticleFilter(feed_id="f2"), [2]),
        (ArticleFilter(feed_id="f2", category="odd"), []),
    ],
)
@pytest.mark.parametrize("chunk", [1, 2, 200])
def test_filters(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, conditions: ArticleFilter, numbers: list[int], chunk: int
) -> None:
    monkeypatch.setattr(catalogue, "_CHUNK", chunk)
    names = [url(n, "a.paper.test" if n < 3 else "b.paper.test") for n in range(5)]
    for n, name in enumerate(names):
        fields = {"category": "odd" if n % 2 else "even", "payload": {"feed_id": f"f{n}"}}
        item = reader.page(reader.lease(name, **fields), text(f"story {n}"), language="de" if n < 2 else "en-GB")
        reader.wired.leases.done(reader.passed(item).lease, status="fetched")
    for limit in (1, 2, 9):
        found = [uid for page in all_pages(reader, conditions, limit) for uid in page]
        assert found == [url_uid(names[n]) for n in numbers]


def test_a_page_reads_a_bounded_number_of_articles(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_CHUNK", 1)
    monkeypatch.setattr(catalogue, "_BUDGET", 2 * catalogue._CHUNK_COST)
    uids = [reader.read(url(n), text(f"story {n}"), category="c" if n == 0 else "d").uid for n in range(6)]
    pages = all_pages(reader, ArticleFilter(category="c"), 5)
    assert pages == [[], [], [uids[0]], []]  # the end shows in the call after it


def test_since_is_the_oldest(reader: Reader) -> None:
    items = [reader.read(url(n), text(f"story {n}")) for n in range(3)]
    wanted = ArticleFilter(since=items[1].at.timestamp())
    assert all_pages(reader, wanted, 9) == [[items[2].uid, items[1].uid]]


def test_expired_articles_are_not_listed(reader: Reader, redis_client: redis.Redis) -> None:
    old, new = reader.read(url(1), text("a")), reader.read(url(2), text("b"))
    redis_client.delete(f"rss:article_canonical:{old.uid}")
    assert all_pages(reader, ArticleFilter(), 9) == [[new.uid]]
    later = reader.now + timedelta(days=8)
    assert shelf(reader).page(ArticleFilter(), later) == Page((), None)
