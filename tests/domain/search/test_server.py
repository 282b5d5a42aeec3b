from feedcrawl.domain.search.documents import Filters, document_of
from feedcrawl.domain.search.query import read
from feedcrawl.domain.search.server import search, template, writes

ARTICLE = {
    "uid": "0123456789abcdef",
    "canonical_url": "http://a.test/1",
    "title": "Café 東京",
    "clean_text": "Text",
    "authors": ["Ann"],
    "fetched_ts": 1.5,
}


def test_the_template_is_for_the_indexes_behind_the_alias() -> None:
    found = template("articles")
    assert found["index_patterns"] == ["articles-*"]
    properties = found["template"]["mappings"]["properties"]
    assert properties["words_text"] == {"type": "text", "analyzer": "feedcrawl"}
    document = document_of(ARTICLE, source=None, categories=[])  # type: ignore[arg-type]
    assert set(document) <= set(properties)


def test_a_document_is_written_with_its_words_and_removed_by_its_uid() -> None:
    document = document_of(ARTICLE, source=None, categories=[])  # type: ignore[arg-type]
    action, body = writes(document, document["uid"], "articles")
    assert action == {"index": {"_index": "articles", "_id": "0123456789abcdef"}}
    assert (body["title"], body["words_title"].split(), body["words_text"]) == (
        "Café 東京",
        ["Cafe", "東京", "京"],
        "Text",
    )
    assert list(writes(None, "0123456789abcdef", "articles")) == [
        {"delete": {"_index": "articles", "_id": "0123456789abcdef"}}
    ]


def test_a_search_has_each_term_as_a_phrase() -> None:
    body = search(read('green "black tea" 水 be* e-be* -milk'), Filters(since=7.0, language="en"), limit=3, offset=6)
    condition = body["query"]["bool"]
    terms = [(each["multi_match"]["query"], each["multi_match"]["type"]) for each in condition["must"]]
    assert terms == [
        ("green", "phrase"),
        ("black tea", "phrase"),
        ("水", "bool_prefix"),
        ("be", "bool_prefix"),
        ("e-be", "phrase_prefix"),
    ]
    assert condition["must"][-1]["multi_match"]["max_expansions"] == 1000
    assert [each["multi_match"]["query"] for each in condition["must_not"]] == ["milk"]
    assert condition["filter"] == [
        {"term": {"labels": Filters(language="en").labels()[0]}},
        {"range": {"fetched_ts": {"gte": 7.0}}},
    ]
    assert (body["from"], body["size"]) == (6, 3)
