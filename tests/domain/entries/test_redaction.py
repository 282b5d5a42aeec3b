from dataclasses import replace

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain import feeds
from feedcrawl.domain.entries.reading import How, read_feed
from feedcrawl.domain.entries.redaction import STAND_IN, redact, redacted, without_addresses
from feedcrawl.domain.extraction.fields.persons import split_names
from feedcrawl.domain.models import Person

HIDDEN = [
    "a@b.test",
    "ann.lee+news@mail.b.test",
    "mailto:a@b.test",
    "MAILTO:A@B.TEST",
    "mailto:a%40b.test",
    "a%40b%2Etest",
    "acct:a@b.test",
    "a&#64;b.test",
    "a&#x40;b.test",
    "a&commat;b.test",
    "a\uff20b.test",
    "a [at] b.test",
    "a(at)b(dot)test",
    "j\u00fcrgen@b\u00fccher.test",
    "\u0438\u0432\u0430\u043d@\u043f\u0440\u0438\u043c\u0435\u0440.test",
]


@pytest.mark.parametrize("address", HIDDEN)
@pytest.mark.parametrize("around", ["{}", "<{}>", "({})", "By {}, today", '"{}"', "x;{};y", "<a href='{}'>", ">{}</"])
def test_an_address_is_removed_and_the_text_around_stays(address: str, around: str) -> None:
    assert without_addresses(around.format(address), "-") == around.format("-")


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee",
        "@ann",
        "Ann @ Work",
        "meet at b.test",
        "3 @ 5",
        "https://social.test/@ann",
        "https://social.test/@ann@b.test",
        "a@b",
        "100%",
        "user at large (dot) com",
    ],
)
def test_text_without_an_address_stays(text: str) -> None:
    assert without_addresses(text, "-") == text


@pytest.mark.parametrize(
    ("person", "left"),
    [
        (Person("Ann Lee", "a@b.test"), Person("Ann Lee")),
        (Person("Ann Lee", "a@b.test", "https://b.test/ann"), Person("Ann Lee", None, "https://b.test/ann")),
        (Person("a@b.test (Ann Lee)"), Person("Ann Lee")),
        (Person("Ann Lee <a@b.test>"), Person("Ann Lee")),
        (Person("Ann Lee [a@b.test]"), Person("Ann Lee")),
        (Person('"Ann Lee" <mailto:a%40b.test>'), Person("Ann Lee")),
        (Person("Ann Lee, a@b.test"), Person("Ann Lee")),
        (Person("Ann Lee - a@b.test"), Person("Ann Lee")),
        (Person("Ann (Berlin)"), Person("Ann (Berlin)")),
        (Person("Ann", None, "mailto:a@b.test"), Person("Ann")),
        (Person("Ann", None, "mailto:a%40b.test?subject=Hi"), Person("Ann")),
        (Person("Ann", None, "https://social.test/@ann"), Person("Ann", None, "https://social.test/@ann")),
        (Person(None, "a@b.test", "https://b.test/"), Person(None, None, "https://b.test/")),
        (Person("a@b.test", "a@b.test"), None),
        (Person(None, "a@b.test"), None),
        (Person(None, None, "mailto:a@b.test"), None),
    ],
)
def test_an_author_keeps_name_and_page(person: Person, left: Person | None) -> None:
    assert redacted(person) == left


ENTRY = "<guid>1</guid><title>Mail to c@d.test</title>"
DOCUMENTS = {
    "rss": f'<rss version="2.0"><channel><title>F</title><managingEditor>e@f.test (Ed)</managingEditor>'
    f"<item>{ENTRY}<author>a@b.test (Ann Lee)</author></item></channel></rss>",
    "dc": '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>F</title>'
    f"<item>{ENTRY}<dc:creator>Ann Lee &lt;a@b.test&gt;</dc:creator></item></channel></rss>",
    "atom": '<feed xmlns="http://www.w3.org/2005/Atom"><id>f</id><title>F</title><author><name>Ed</name>'
    "<email>e@f.test</email></author><entry><id>1</id><title>Mail to c@d.test</title><author><name>Ann Lee</name>"
    "<email>a@b.test</email><uri>mailto:a%40b.test</uri></author></entry></feed>",
    "json": '{"version":"https://jsonfeed.org/version/1.1","title":"F","authors":[{"name":"e@f.test"}],"items":[{"id":'
    '"1","title":"Mail to c@d.test","authors":[{"name":"Ann Lee","url":"mailto:a@b.test"},{"name":"a@b.test"}]}]}',
}


@pytest.mark.parametrize("form", DOCUMENTS)
def test_a_feed_of_each_format_keeps_names_ids_and_texts(form: str) -> None:
    feed_fields = {"url": "http://b.test/feed", "content_type": None, "feed_id": "f"}
    body = DOCUMENTS[form].encode()
    plain, read = read_feed(body, **feed_fields), read_feed(body, **feed_fields, how=How(redact_emails=True))
    (entry,) = read.parsed.entries
    assert entry.authors == (Person("Ann Lee"),)
    assert "a@b.test" not in repr(entry)
    assert "a%40b.test" not in repr(entry)
    assert "e@f.test" not in repr(read.parsed)
    assert entry.title == "Mail to c@d.test"
    assert [identified.entry for identified in read.identified] == [entry]
    assert [identified.keys for identified in read.identified] == [identified.keys for identified in plain.identified]
    assert read.digest == plain.digest
    assert "a@b.test" in repr(plain.parsed.entries[0])


def test_entries_that_only_their_authors_addresses_distinguish_stay_two() -> None:
    items = "".join(f"<item><title>Post</title><author>{name}@b.test</author></item>" for name in ("ann", "bo"))
    body = f'<rss version="2.0"><channel><title>t</title>{items}</channel></rss>'.encode()
    feed_fields = {"url": "http://b.test/feed", "content_type": None, "feed_id": "f"}
    plain, read = read_feed(body, **feed_fields), read_feed(body, **feed_fields, how=How(redact_emails=True))
    assert len(read.identified) == 2
    assert [identified.uids for identified in read.identified] == [identified.uids for identified in plain.identified]
    assert read.digest == plain.digest
    assert "@b.test" not in repr(read)


def test_redacted_markup_can_still_be_parsed() -> None:
    body = DOCUMENTS["atom"].encode()
    parsed = feeds.parse(body, url="http://b.test/feed", content_type=None)
    parsed = replace(parsed, entries=(replace(parsed.entries[0], raw=b"<author>a@b.test \xff</author>"),))
    assert redact(parsed).entries[0].raw == f"<author>{STAND_IN} ".encode() + b"\xff</author>"


@pytest.mark.parametrize("address", HIDDEN[:3])
def test_names_of_authors_on_pages_have_no_addresses(address: str) -> None:
    assert list(split_names(f"Ann Lee <{address}>")) == ["Ann Lee"]


@given(st.text(alphabet="a.@%4[(at)] <>&#;:/", max_size=60))
def test_a_second_redaction_changes_nothing(text: str) -> None:
    once = without_addresses(text, "\n")
    assert without_addresses(once, "\n") == once


@pytest.mark.parametrize(
    ("before", "piece", "after"), [("", "a", ""), ("", "a@", ""), ("", "a.b", "@"), ("a@", "b.", ""), ("", "[at", "")]
)
def test_hostile_texts_take_linear_time(before: str, piece: str, after: str) -> None:
    assert_linear(lambda times: without_addresses(before + piece * times + after), 40_000)
