import pickle

import pytest

from feedcrawl.domain.entries.reading import How, read_feed
from feedcrawl.domain.errors import NotAFeed

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>A</title><link>http://a.test/</link>
<item><title>One</title><link>http://a.test/1</link><guid>1</guid></item>
<item><title>Two</title><link>http://a.test/2</link><guid>2</guid></item></channel></rss>"""


def test_a_document_is_parsed_and_its_entries_named() -> None:
    read = read_feed(RSS, url="http://a.test/feed", content_type="application/rss+xml", feed_id="f")
    assert [entry.title for entry in read.parsed.entries] == ["One", "Two"]
    assert [named.entry for named in read.identified] == list(read.parsed.entries)
    assert all(named.keys and named.uids for named in read.identified)


def test_a_reading_can_be_pickled() -> None:
    read = read_feed(RSS, url="http://a.test/feed", content_type=None, feed_id="f")
    assert pickle.loads(pickle.dumps(read)) == read


def digest(body: bytes) -> str:
    return read_feed(body, url="http://a.test/feed", content_type=None, feed_id="f").digest


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (b"<link>http://a.test/</link>", b"<lastBuildDate>Sat, 28 Nov 2026 00:00:00 GMT</lastBuildDate>", True),
        (b"<link>http://a.test/</link>", b"<generator>x 2.1</generator><pubDate>now</pubDate>", True),
        (b"<guid>1</guid>", b"<guid>1</guid><slash:comments xmlns:slash='s'>9</slash:comments>", True),
        (b"<title>One</title>", b"<title>  One </title>", True),
        (b"<title>One</title>", b"<title>One!</title>", False),
        (b"<guid>2</guid>", b"<guid>3</guid>", False),
        (b"<guid>2</guid>", b"<guid>2</guid><updated>2026-11-28T00:00:00Z</updated>", False),
        (b"http://a.test/2", b"http://a.test/3", False),
    ],
)
def test_the_digest_of_a_document_leaves_out_its_stamps(old: bytes, new: bytes, *, same: bool) -> None:
    assert (digest(RSS.replace(old, new, 1)) == digest(RSS)) is same


def test_a_known_document_is_read_for_its_head_only() -> None:
    read = read_feed(RSS, url="http://a.test/feed", content_type=None, feed_id="f", how=How(digest(RSS)))
    assert (read.parsed.title, read.parsed.entries, read.identified) == ("A", (), ())


def test_a_page_of_html_is_refused_as_a_feed() -> None:
    with pytest.raises(NotAFeed):
        read_feed(b"<html><p>hello", url="http://a.test/", content_type="text/html", feed_id="f")
