from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.entries.identity import content_hash, identify
from feedcrawl.domain.models import Enclosure, ParsedEntry

LINK = "https://news.example/a"
DAY = datetime(2024, 5, 6, tzinfo=UTC)


def made(**fields):
    (found,) = identify([ParsedEntry(**fields)], feed_id="f")
    return found


def kinds(found):
    return [key.partition(":")[0] for key in found.keys]


@pytest.mark.parametrize(
    ("fields", "ladder"),
    [
        ({"native_id": "tag:1", "link": LINK}, [("id", "tag:1"), ("link", LINK)]),
        ({"native_id": " tag:1\n"}, [("id", "tag:1")]),
        ({"native_id": "", "link": f"{LINK}?utm_source=rss"}, [("link", LINK)]),
        ({"link": f"{LINK}#part"}, [("link", LINK), ("link", f"{LINK}#part")]),
        ({"link": "javascript:alert(1)", "summary": "x"}, []),
        ({"title": "Only a title"}, []),
    ],
)
def test_the_ladder_of_names(fields, ladder):
    found = made(**fields)
    assert [name for name in found.uids if name[0] != "hash"] == ladder
    assert found.uids[-1][0] == "hash"


@pytest.mark.parametrize("native_id", ["x" * 100_000, "a\nb", "../../etc/passwd \0"])
def test_ids_that_are_long_or_hold_controls_go_by_their_digest(native_id):
    rung, uid = made(native_id=native_id).uids[0]
    assert rung == "id"
    assert len(uid) == 64
    assert made(native_id=f"{native_id}x").uids[0][1] != uid


def test_keys():
    entry = {
        "native_id": "http://news.example/?p=1",
        "link": LINK,
        "enclosures": (Enclosure("https://a.example/1.mp3"),),
    }
    assert kinds(made(**entry)) == ["id", "bare", "link", "path", "media"]
    assert kinds(made(native_id="1", link="https://news.example/")) == ["id", "link"]
    assert kinds(made(native_id="1")) == ["id", "hash"]


@pytest.mark.parametrize(
    ("first_id", "other_id", "same"),
    [
        ("http://news.example/1", "https://news.example/1", True),
        ("https://news.example/1#0", "https://news.example/1#1", True),
        ("https://news.example/1#a", "https://news.example/1#b", False),
        ("https://news.example/A", "https://news.example/a", False),
        ("Item1", "iTEM1", False),
        ("urn:x:1", "urn:x:2", False),
    ],
)
def test_ids_that_mean_the_same(first_id, other_id, same):
    shared = set(made(native_id=first_id, title="a").keys) & set(made(native_id=other_id, title="b").keys)
    assert any(key.startswith(("id:", "bare:")) for key in shared) is same


def test_a_name_that_two_entries_share_names_neither():
    first, second = identify(
        [ParsedEntry(native_id="1", link=f"{LINK}?n=1"), ParsedEntry(native_id="1", link=f"{LINK}?n=2")], feed_id="f"
    )
    assert first.id_repeated
    assert first.id_key is None
    assert (first.uids[0], second.uids[0]) == (("link", f"{LINK}?n=1"), ("link", f"{LINK}?n=2"))
    assert set(first.keys).isdisjoint(second.keys)


def test_anchors_of_a_page_are_different_entries_where_ids_are_missing():
    found = identify([ParsedEntry(link=f"{LINK}#one"), ParsedEntry(link=f"{LINK}#two")], feed_id="f")
    assert [entry.uids[0] for entry in found] == [("link", f"{LINK}#one"), ("link", f"{LINK}#two")]


def test_an_entry_repeated_whole_counts_once():
    entry = ParsedEntry(native_id="1", link=LINK, title="T")
    assert len(identify([entry, entry, ParsedEntry(native_id="1", link=f"{LINK}#")], feed_id="f")) == 1
    assert len(identify([ParsedEntry(title="T", content="a"), ParsedEntry(title="T", content="b")], feed_id="f")) == 2


def test_an_entry_without_any_field_is_dropped():
    assert identify([ParsedEntry(), ParsedEntry(published=DAY)], feed_id="f") == ()


def test_the_digest_is_of_link_title_date_and_feed():
    base = {"title": "T", "published": DAY}
    digest = made(**base).uids[0][1]
    (elsewhere,) = identify([ParsedEntry(**base)], feed_id="g")
    assert made(**base, content="other").uids[0][1] == digest
    others = [made(title="U", published=DAY), made(title="T"), elsewhere]
    assert digest not in {found.uids[0][1] for found in others}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("<p>Some  <b class=x>text</b> &amp; more</p>", True),
        ("<div>Some\ntext &#38; more<img src=//ads.example/7></div>", True),
        ("<p>Some text and more</p>", False),
        ("", False),
    ],
)
def test_the_content_hash_covers_the_visible_text(text, same):
    assert (content_hash(ParsedEntry(content=text)) == content_hash(ParsedEntry(content="Some text & more"))) is same


def test_dates_and_links_are_no_content():
    assert content_hash(ParsedEntry(title="T", updated=DAY, link=LINK)) == content_hash(ParsedEntry(title="T"))


def test_a_title_that_the_document_repeats_tells_nothing():
    found = identify([ParsedEntry(native_id=str(n), title="Photo") for n in range(2)], feed_id="f")
    assert [entry.title_key for entry in found] == ["", ""]
    assert made(content="A note without a title").title_key == made(summary="A note without a title").title_key != ""
    assert made(native_id="1").title_key == ""


TEXTS = st.none() | st.text(max_size=12)
ENTRIES = st.lists(
    st.builds(ParsedEntry, native_id=st.sampled_from([None, "", "1", "2", LINK]) | TEXTS, link=TEXTS, title=TEXTS),
    max_size=8,
)


@given(ENTRIES)
def test_no_key_belongs_to_two_entries(entries):
    found = identify(entries, feed_id="f")
    keys = [key for entry in found for key in entry.keys]
    assert len(keys) == len(set(keys))
    assert all(entry.uids for entry in found)
    assert identify([entry.entry for entry in found], feed_id="f") == found
