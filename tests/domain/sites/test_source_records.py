import json

import pytest

from feedcrawl.domain.sites.source_records import changed, source_record
from feedcrawl.domain.sites.sources import BadSources, Source, read_source

ALL = {
    "name": "news",
    "base_url": "https://news.test/",
    "feed_urls": ["https://news.test/feed"],
    "sitemap_urls": ["https://news.test/map.xml"],
    "ingestion_mode": "both",
    "categories": ["world", "sport"],
    "priority": 7,
    "delay_sec": 2.5,
    "domain_delay_sec": 1.0,
    "poll_interval_sec": 600.0,
    "min_interval_sec": 300.0,
    "max_interval_sec": 7200.0,
    "sitemap_interval_sec": 900.0,
    "article_url_patterns": ["/a/"],
    "listing_url_patterns": ["/l/"],
    "selectors": {"body": ["div.story"], "remove": ["aside"]},
    "trailing_slash": "keep",
    "external_links": "submit",
    "render": "never",
    "proxy": ["socks5://192.0.2.9:1080"],
    "proxy_resolves": True,
}


@pytest.mark.parametrize("entry", [ALL, {"name": "a", "base_url": "https://a.test/"}])
def test_a_record_is_the_entry_that_the_source_was_made_of(entry: dict[str, object]) -> None:
    source = read_source(entry)
    assert json.loads(json.dumps(source_record(source))) == entry
    assert read_source(source_record(source)) == source


def test_every_fault_of_a_source_is_reported() -> None:
    with pytest.raises(BadSources) as refused:
        read_source({"name": "a", "priority": 99, "colour": "red"})
    assert all(
        part in refused.value.detail for part in ("base_url is missing", "priority must be", "no field 'colour'")
    )


def test_new_and_changed_sources_are_returned() -> None:
    a, b = Source("a", "https://a.test/"), Source("b", "https://b.test/")
    other = Source("b", "https://b.test/", priority=9)
    assert changed({"a": a, "b": b}, {"a": a, "b": other, "c": a}) == {"b": other, "c": a}
