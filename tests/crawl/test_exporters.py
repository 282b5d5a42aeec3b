import csv
import io
import json
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from polls import feed_poll

from feedcrawl.crawl import exporters
from feedcrawl.items import Article, FeedPoll

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)


POSTS = [{"text": "x", "author": "Ada", "published": "2026-11-27T12:00:00Z"}, {"text": "y"}]


def entry(uid: str, **values: Any) -> Any:
    empty = dict.fromkeys(("canonical_link", "title", "summary", "content", "published", "updated"))
    lists: dict[str, Any] = {"authors": [{"name": "Ada", "email": None, "uri": None}], "categories": ["a,b", "c"]}
    known = {"first_seen": "x", "last_seen": "x", "seen_count": 1, "content_hash": "h", "enclosures": []}
    rest = dict.fromkeys(("article_uid", "link", "published_raw", "language", "image", "raw"))
    own = {"entry_uid": uid, "feed_id": "f", "feed_url": "http://a.test/", "type": "entry"}
    made = {"raw_refs": [], "revision": 1, "files": []}
    return rest | own | made | empty | lists | known | values


def poll(new: list[Any], changed: list[Any] = ()) -> FeedPoll:
    lease = feed = SimpleNamespace()
    return feed_poll(lease, "f@x", AT, 200, "fetched", feed, new=list(new), changed=list(changed))


def article(**values: Any) -> Article:
    record = {"uid": "u", "url": "http://a.test/", "title": "T", "categories": ["a"], "clean_text": "x\ny"}
    record |= {"posts": POSTS}
    return Article(SimpleNamespace(), "http://a.test/", AT, **({"status": "success", "record": record} | values))


ITEMS = [
    poll([entry("1"), entry("2", title="été")], [entry("3")]),
    poll([]),
    article(),
    article(merged_into="other"),
    article(status="failure", code="FAIL_HTTP"),
]


def exported(kind: type, items: list[Any], **options: Any) -> bytes:
    file = io.BytesIO()
    exporter = kind(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def names(records: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(record["type"], record.get("entry_uid") or record.get("uid") or "") for record in records]


EXPECTED = [("entry", "1"), ("entry", "2"), ("entry", "3"), ("article", "u")]


def test_json_lines_and_json() -> None:
    lines = [json.loads(line) for line in exported(exporters.JsonLinesExporter, ITEMS).splitlines()]
    assert names(lines) == EXPECTED
    assert lines == json.loads(exported(exporters.JsonExporter, ITEMS, encoding="utf-8"))
    assert lines[1]["title"] == "été"
    assert lines[0]["categories"] == ["a,b", "c"]
    assert lines[3] == {"type": "article", **ITEMS[2].record}


def test_csv_has_the_fields_of_both_types_and_loses_no_value() -> None:
    text = exported(exporters.CsvExporter, ITEMS).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["type"], row["uid"] if row["type"] == "article" else row["entry_uid"]) for row in rows] == EXPECTED
    assert json.loads(rows[0]["categories"]) == ["a,b", "c"]
    assert json.loads(rows[0]["authors"]) == [{"name": "Ada", "email": None, "uri": None}]
    assert rows[3]["clean_text"] == "x\ny"
    assert json.loads(rows[3]["posts"]) == POSTS
    chosen = exported(exporters.CsvExporter, ITEMS, fields_to_export=["type", "title"]).decode().splitlines()
    assert chosen == ["type,title", "entry,", "entry,été", "entry,", "article,T"]


def test_xml_is_well_formed_whatever_the_text() -> None:
    odd = poll([entry("1\x00\x0b\ufffe", title="<&>\ud800")])
    root = ET.fromstring(exported(exporters.XmlExporter, [odd, *ITEMS]))
    assert [each.findtext("type") for each in root] == ["entry", *(kind for kind, _ in EXPECTED)]
    assert root[0].findtext("entry_uid") == "1\ufffd\ufffd\ufffd"
    assert root[0].findtext("summary") == ""


def test_items_of_other_spiders_pass() -> None:
    item = {
        "url": "http://a.test/",
        "body": b"\xc3\xa9",
        "raw": b"\xff\x00",
        "at": AT,
        "day": date(2026, 3, 2),
        "n": {2, 1},
    }
    assert json.loads(exported(exporters.JsonLinesExporter, [item])) == {
        "url": "http://a.test/", "body": "é", "raw": "/wA=", "at": "2026-03-02T08:00:00.000Z", "day": "2026-03-02",
        "n": [1, 2],
    }  # fmt: skip
    assert exported(exporters.CsvExporter, [{"b": "1", "a": "2"}]).decode().splitlines() == ["b,a", "1,2"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(max_size=5) | st.datetimes() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(values)
def test_any_value_has_a_form_in_json(value: Any) -> None:
    assert json.dumps(exporters.plain(value)).encode()
    exported(exporters.JsonLinesExporter, [{"x": value, "lone": "\ud800"}], encoding="utf-8")


@pytest.mark.parametrize("kind", [exporters.JsonLinesExporter, exporters.JsonExporter, exporters.CsvExporter])
def test_a_run_without_news_is_an_empty_export(kind: type) -> None:
    assert exported(kind, [poll([])]) in (b"", b"[\n]", b"[]")
