"""Requests to a search server: the index template, bulk writes and searches, as OpenSearch and Elasticsearch document
them (https://docs.opensearch.org/latest/api-reference/).

The server's own analysis differs by version and plugins. So the words of a document are sent besides its fields, as
`domain/search/words.py` makes them, and the server only splits them: a search finds the same with either index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from feedcrawl.domain.search.documents import labels_of
from feedcrawl.domain.search.words import phrase, spaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from feedcrawl.domain.search.documents import Filters, RawContentRecord
    from feedcrawl.domain.search.query import Query, Term

Body: TypeAlias = dict[str, Any]
"""A JSON body of a request."""
FIELDS: Final = ("words_title^8", "words_text", "words_people^3")
"""The fields of words with their weights, as in the embedded index."""
SEARCH_TIME: Final = "5s"
MAX_EXPANSIONS: Final = 1000
"""Words of the index that the last word of a phrase may begin; the servers' default is 50."""

_MAX_WORD: Final = 8191
"""Characters of a word that count: Lucene refuses a document with a word of more than 32766 bytes."""
_WORD: Final = re.compile(r"[^\W_]+")
_WORDS: Final = {"type": "text", "analyzer": "feedcrawl"}
_KEYWORD: Final = {"type": "keyword", "ignore_above": _MAX_WORD}
_DATE: Final = {"type": "date"}
_UNSEARCHED: Final = {"type": "text", "index": False}
_KEYWORDS: Final = (
    *("uid", "url", "canonical_url", "host", "source", "image", "authors", "category", "categories", "language"),
    *("site_name", "feed_id", "entry_uid", "fetch_id", "content_hash", "extractor"),
)


def template(name: str) -> Body:
    """The template of the indexes behind the alias `name`."""
    properties: Body = dict.fromkeys(_KEYWORDS, _KEYWORD)
    properties |= dict.fromkeys(("published", "modified", "fetched_at"), _DATE)
    properties |= {"title": _UNSEARCHED, "text": _UNSEARCHED, "abstract": _UNSEARCHED}
    properties |= {"text_len": {"type": "integer"}, "fetched_ts": {"type": "double"}, "labels": {"type": "keyword"}}
    properties |= dict.fromkeys(("words_title", "words_text", "words_people"), _WORDS)
    analysis = {
        "tokenizer": {"feedcrawl": {"type": "pattern", "pattern": r"[^\p{L}\p{M}\p{N}]+"}},
        "filter": {"feedcrawl": {"type": "truncate", "length": _MAX_WORD}},
        "analyzer": {"feedcrawl": {"type": "custom", "tokenizer": "feedcrawl", "filter": ["lowercase", "feedcrawl"]}},
    }
    mappings = {
        "dynamic": False,
        "_source": {"excludes": ["words_*", "labels"]},
        "properties": properties,
    }
    return {
        "index_patterns": [f"{name}-*"],
        "template": {"settings": {"analysis": analysis}, "mappings": mappings},
    }


def writes(stored: RawContentRecord | None, uid: str, index: str) -> Iterator[Body]:
    """The lines of a bulk request that store a document, or remove it if it is None."""
    if stored is None:
        yield {"delete": {"_index": index, "_id": uid}}
        return
    people = " ".join([*stored["authors"], stored["site_name"] or "", *stored["categories"]])
    words = {
        "words_title": spaced(stored["title"] or ""),
        "words_text": spaced(stored["text"]),
        "words_people": spaced(people),
        "labels": labels_of(stored),
    }
    yield {"index": {"_index": index, "_id": uid}}
    yield {**stored, **words}


def search(query: Query, filters: Filters, *, limit: int, offset: int) -> Body:
    """The body of a search: the best matches, of equal ones the last fetched first."""
    conditions: list[Body] = [{"term": {"labels": label}} for label in filters.labels()]
    if filters.since is not None:
        conditions.append({"range": {"fetched_ts": {"gte": filters.since}}})
    matched = {
        "must": [_match(term) for term in query.required],
        "must_not": [_match(term) for term in query.excluded],
        "filter": conditions,
    }
    return {
        "query": {"bool": matched},
        "from": offset,
        "size": limit,
        "sort": ["_score", {"fetched_ts": "desc"}],
        "track_total_hits": False,
        "timeout": SEARCH_TIME,
    }


def older(before: float) -> Body:
    """The body of a request that removes documents fetched before a Unix time."""
    return {"query": {"range": {"fetched_ts": {"lt": before}}}}


def _match(term: Term) -> Body:
    """The clause for a term. A single word is a prefix of any number of words (`bool_prefix`); the last word of a
    phrase only of so many as the server expands it to.
    """
    words, is_prefix = phrase(term.text)
    how: Body = {"type": "phrase"}
    if term.prefix or is_prefix:
        is_one = len(_WORD.findall(words)) == 1
        how = {"type": "bool_prefix"} if is_one else {"type": "phrase_prefix", "max_expansions": MAX_EXPANSIONS}
    return {"multi_match": {"query": words, "fields": list(FIELDS), **how}}
