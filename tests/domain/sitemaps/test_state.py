from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord, Watched, dump, load_record, load_sitemap

SITEMAP = Sitemap("1", "https://a.example/s.xml", ("x", "y"), "src", 7, "0", "https://a.example/", 2, added_at="now")
RECORD = SitemapRecord(etag='"1"', candidates=(("interval", 9.0), ("x", 1.0)), waiting=3, kind="index")


def test_a_written_record_is_read_back() -> None:
    assert load_sitemap(dump(SITEMAP)) == SITEMAP
    assert load_record(dump(RECORD)) == RECORD
    assert load_record(None) == load_record(dump(SitemapRecord())) == SitemapRecord()


def test_other_versions_are_read() -> None:
    assert load_sitemap('{"id":"1","url":"u","future":1}') == Sitemap("1", "u")


def test_a_tree_is_named_by_its_root() -> None:
    assert (SITEMAP.tree, Sitemap("1", "u").tree) == ("0", "1")
    assert Watched(SITEMAP, RECORD).id == "1"
    assert RECORD.cadence_state == PollState()
