"""One file of the embedded index, searched by SQLite itself."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.search.documents import Filters, document_of
from feedcrawl.domain.search.query import read
from feedcrawl.store.search import sqlite
from feedcrawl.store.search.interface import Changes, IndexUnavailable
from feedcrawl.store.search.sqlite import IndexFile

DAY_SEC = 86_400
EVERY = Filters()


def document(number: int, text: str = "", title: str = "", **fields: Any) -> dict[str, Any]:
    article = {
        "uid": f"{number:016x}",
        "url": f"http://a.test/{number}",
        "canonical_url": f"http://a.test/{number}",
        "title": title,
        "clean_text": text,
        "fetched_ts": float(number * DAY_SEC),
    }
    return document_of(article | fields, source=fields.get("source"), categories=[])


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexFile]:
    made = IndexFile(tmp_path / "index.sqlite")
    made.create()
    yield made
    made.close()


def found(index: IndexFile, text: str, filters: Filters = EVERY, **page: int) -> list[int]:
    hits = index.search(read(text), filters, limit=page.get("limit", 50), offset=page.get("offset", 0))
    return [int(hit["uid"], 16) for hit in hits]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Über den Wolken", "uber"),
        ("ÜBER", "über"),
        ("crème brûlée", "creme brulee"),
        ("creme", "crème"),
        ("naïve cafe\u0301", "naive café"),
        ("Ελληνικά", "ελληνικα"),
        ("Живёт", "живет"),
        ("東京都に行く", "東京"),
        ("東京都に行く", "京都"),
        ("東京都に行く", "行く"),
        ("東京都に行く", "東京都"),
        ("東京都に行く", "都"),
        ("東京都に行く", "く"),
        ("中国人民银行今天宣布", "银行"),
        ("สวัสดีชาวโลก", "ชาวโลก"),
        ("สวัสดีชาวโลก", "โล"),
        ("서울에서 만나요", "서울"),
        ("iPhone15の発売", "iphone15の発売"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("C++ vector<int>", "vector int"),
        ("node.js is here", "node.js"),
        ("don't", "don't"),
        ("begins with", "beg*"),
        ("a, green: tea!", '"green tea"'),
    ],
)
def test_found(index: IndexFile, text: str, query: str) -> None:
    index.apply(Changes([document(1, f"before {text} after"), document(2, "something else")]), {})
    assert found(index, query) == [1]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京都", "京東"),
        ("green herbs and tea", '"green tea"'),
        ("teas", "tea"),
        ("tea with milk", "tea -milk"),
        ("tea with milk", 'tea -"with milk"'),
        ("some text", "labels"),
    ],
)
def test_not_found(index: IndexFile, text: str, query: str) -> None:
    index.apply(Changes([document(1, text)]), {})
    assert found(index, query) == []


def test_titles_count_more_than_texts_and_the_last_is_first_of_equals(index: IndexFile) -> None:
    texts = [
        document(1, "a bridge and many more words about other things " * 5),
        document(2, "words about other things " * 5, title="The bridge"),
        document(3, "a bridge and many more words about other things " * 5),
        *(document(number, "words about other things") for number in range(4, 9)),
    ]
    index.apply(Changes(texts), {})
    assert found(index, "bridge") == [2, 3, 1]
    assert [found(index, "bridge", limit=1, offset=offset) for offset in range(4)] == [[2], [3], [1], []]


def test_a_document_is_replaced_removed_or_left_unchanged(index: IndexFile) -> None:
    index.apply(Changes([document(1, "old 東京 words", categories=["a"]), document(2, "words")]), {"cursor": "1"})
    index.apply(Changes([document(1, "new words", categories=["b"])]), {"cursor": "2"})
    assert (found(index, "old"), found(index, "東京"), found(index, "new")) == ([], [], [1])
    assert (found(index, "words", Filters(category="a")), found(index, "words", Filters(category="b"))) == ([], [1])
    index.apply(Changes([document(1, "new words", categories=["b"])], [f"{2:016x}", f"{9:016x}"]), {"cursor": "3"})
    assert found(index, "words") == [1]
    assert (index.count(), index.note("cursor"), index.note("other")) == (1, "3", None)
    with closing(sqlite3.connect(index.path)) as opened:
        assert opened.execute("SELECT count(*) FROM words_docsize").fetchone() == (1,)
        opened.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'words', 'row')")
        terms = [term for (term,) in opened.execute("SELECT term FROM terms")]
    assert {"old", "東京", "京"}.isdisjoint(terms), "no word of the old text is left"


def test_since_is_the_time_of_the_fetch_in_whatever_order_articles_came(index: IndexFile) -> None:
    index.apply(Changes([document(number, "tea") for number in (5, 1, 9, 3, 7)]), {})
    assert sorted(found(index, "tea", Filters(since=5.0 * DAY_SEC))) == [5, 7, 9]
    assert sorted(found(index, "tea", Filters(since=5.0 * DAY_SEC + 1))) == [7, 9]
    assert found(index, "tea", Filters(since=10.0 * DAY_SEC)) == []


def test_of_very_many_matches_the_last_stored_are_ranked(index: IndexFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "CANDIDATES", 3)
    index.apply(Changes([document(number, "tea") for number in range(1, 9)]), {})
    assert found(index, "tea") == [8, 7, 6]


@pytest.fixture
def common(index: IndexFile, monkeypatch: pytest.MonkeyPatch) -> IndexFile:
    """An index of ten documents that all have one word; there is time to count four documents."""
    monkeypatch.setattr(sqlite, "COUNTED", 4)
    monkeypatch.setattr(sqlite, "_SAMPLE", 10)
    texts = {2: "the tea and cake", 4: "the tea of tea with tea", 6: "cake the tea", 9: "tea"}
    made = [document(number, texts.get(number, "the words"), categories=["a"]) for number in range(1, 11)]
    index.apply(Changes(made), {})
    return index


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("tea", [4, 9, 6, 2]),  # all of it is counted, as bm25 has it
        ("tea the", [4, 6, 2]),  # "the" must occur, and does not rank
        ("the", [10, 8, 7, 6, 5, 4, 3, 2, 1]),  # nothing that ranks: the last stored is first
        ('"the tea"', [6, 4, 2]),
        ("the -cake tea", [4]),
        ("th*", [10, 8, 7, 6, 5, 4, 3, 2, 1]),
    ],
)
def test_terms_that_are_too_common_to_be_counted_select_and_do_not_rank(
    common: IndexFile, text: str, numbers: list[int]
) -> None:
    assert found(common, text) == numbers
    assert [found(common, text, limit=2, offset=offset) for offset in (0, 2)] == [numbers[:2], numbers[2:4]]
    assert found(common, text, Filters(category="a", since=3.0 * DAY_SEC)) == [each for each in numbers if each >= 3]
    assert found(common, text, Filters(category="b")) == []


def test_a_failed_write_changes_nothing(index: IndexFile) -> None:
    index.apply(Changes([document(1, "tea")]), {"cursor": "1"})
    bad = document(3, "tea") | {"fetched_ts": "never"}
    with pytest.raises(TypeError):
        index.apply(Changes([document(2, "tea"), bad]), {"cursor": "2"})
    assert (found(index, "tea"), index.note("cursor")) == ([1], "1")


def test_a_search_that_takes_too_long_is_interrupted(index: IndexFile, monkeypatch: pytest.MonkeyPatch) -> None:
    index.apply(Changes([document(number, "tea") for number in range(1, 99)]), {})
    monkeypatch.setattr(sqlite, "SEARCH_SEC", -1.0)
    monkeypatch.setattr(sqlite, "_STEPS", 1)
    with pytest.raises(IndexUnavailable, match="search_too_slow"):
        found(index, "tea")
    monkeypatch.undo()
    assert len(found(index, "tea")) == 50


@pytest.fixture(scope="module")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexFile]:
    made = IndexFile(tmp_path_factory.mktemp("index") / "index.sqlite")
    made.create()
    made.apply(Changes([document(1, "tea 東京")]), {})
    yield made
    made.close()


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("\"'*-()^:{}+ANDORNEAR東京水 \0")), max_size=60))
def test_no_text_is_a_syntax_error(shared_index: IndexFile, text: str) -> None:
    try:
        query = read(text)
    except Refusal:
        return
    shared_index.search(query, EVERY, limit=1)


@given(parts=st.lists(st.sampled_from(["tea", "東京", "水", "a", "京都に", "ไทย", "x"]), min_size=1, max_size=8))
def test_each_part_of_a_text_finds_the_text(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    index = IndexFile(tmp_path_factory.mktemp("index") / "index.sqlite")
    with closing(index):
        index.create()
        index.apply(Changes([document(1, " ".join(parts))]), {})
        for part in parts:
            for size in range(1, len(part) + 1) if part != "tea" else (3,):
                assert found(index, part[:size]) == [1], (parts, part[:size])


@pytest.mark.parametrize(
    ("query", "filters", "expected"),
    [
        ("g*", EVERY, [29, 27, 25]),
        ("word g*", EVERY, [29, 27, 25]),
        ("word -g*", EVERY, [28, 26, 24]),
        ("g* -word", EVERY, []),
        ("-word g*", Filters(category="even"), []),
        ("g*", Filters(category="even"), []),
        ("g*", Filters(since=27.0 * DAY_SEC), [29, 27]),
        ("zz*", EVERY, [3]),
        ("word zz*", EVERY, [3]),
        ("q*", EVERY, []),
    ],
)
def test_a_short_beginning_is_read_from_the_last_documents_or_looked_up(
    index: IndexFile, monkeypatch: pytest.MonkeyPatch, query: str, filters: Filters, expected: list[int]
) -> None:
    articles = [
        document(
            number,
            f"word {'green' if number % 2 else 'tea'}{' zzz' if number == 3 else ''}",
            categories=["odd" if number % 2 else "even"],
        )
        for number in range(30)
    ]
    index.apply(Changes(articles), {})
    assert found(index, query, filters, limit=3) == expected, "as the index tells in a small index"
    monkeypatch.setattr(sqlite, "COUNTED", 10)
    monkeypatch.setattr(sqlite, "SCANNED", 5)
    assert found(index, query, filters, limit=3) == expected
    assert found(index, query, filters, limit=1, offset=1) == expected[1:2]


def test_a_common_short_beginning_needs_no_look_up(index: IndexFile, monkeypatch: pytest.MonkeyPatch) -> None:
    index.apply(Changes([document(number, "word green") for number in range(30)]), {})
    monkeypatch.setattr(sqlite, "COUNTED", 10)
    monkeypatch.setattr(sqlite, "expression", lambda *_: "")
    assert found(index, "gr*", limit=2) == [29, 28]
