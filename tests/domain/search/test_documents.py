import pytest

from feedcrawl.domain.search.documents import MAX_TEXT_CHARS, Filters, document_of, label, labels_of

ARTICLE = {
    "uid": "0123456789abcdef",
    "url": "http://a.test/1?utm_source=x",
    "canonical_url": "http://www.a.test/1",
    "category": "news",
    "categories": ["news", "local"],
    "title": "A title",
    "clean_text": "The text",
    "text_len": 8,
    "authors": ["Ann"],
    "language": "en-GB",
    "feed_id": "0d63020a-ef80-4076-b20d-10c0346f7a6b",
    "content_html": "<p>The text</p>",
    "fetched_ts": 1.5,
}


def test_a_document_has_the_text_and_no_html() -> None:
    found = document_of(ARTICLE, source="paper", categories=["late", "news"])
    assert (found["uid"], found["text"], found["host"], found["source"]) == (
        "0123456789abcdef",
        "The text",
        "www.a.test",
        "paper",
    )
    assert found["categories"] == ["news", "local", "late"]
    assert "content_html" not in found
    assert "clean_text" not in found


def test_a_long_text_is_cut_and_keeps_its_length() -> None:
    found = document_of(ARTICLE | {"clean_text": "x" * 300_000, "text_len": 300_000}, source=None, categories=[])
    assert (len(found["text"]), found["text_len"]) == (MAX_TEXT_CHARS, 300_000)


@pytest.mark.parametrize(
    ("filters", "meant"),
    [
        (Filters(), True),
        (Filters(category="local"), True),
        (Filters(category="LOCAL"), True),
        (Filters(category="loc"), False),
        (Filters(source="paper"), True),
        (Filters(source="www.a.test"), True),
        (Filters(host="www.a.test"), True),
        (Filters(host="paper"), False),
        (Filters(language="en"), True),
        (Filters(language="en-GB"), True),
        (Filters(language="e"), False),
        (Filters(feed_id="0d63020a-ef80-4076-b20d-10c0346f7a6b", category="news"), True),
        (Filters(feed_id="0d63020a-ef80-4076-b20d-10c0346f7a6b", category="other"), False),
    ],
)
def test_filters_are_labels(filters: Filters, meant: bool) -> None:
    labels = labels_of(document_of(ARTICLE, source="paper", categories=[]))
    assert (set(filters.labels()) <= set(labels)) is meant


@pytest.mark.parametrize("value", ['Käse "und" ', "x\ud800", "", "a b", "東京"])
def test_a_label_is_a_single_ascii_word(value: str) -> None:
    found = label("category", value)
    assert found.isascii()
    assert found.isalnum()
    assert found != label("language", value)
