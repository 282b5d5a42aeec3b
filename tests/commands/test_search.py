"""`scrapy index` and `scrapy search`, called as Scrapy calls them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from documents import paragraphs
from scrapy.exceptions import UsageError
from stories import Reader, wired_to

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def reader(call: Call, redis_server: str, tmp_path: Path) -> Reader:
    """Two stored articles that no index has yet."""
    with wired_to(redis_server, tmp_path) as wired:
        made = Reader(wired)
        made.now = wired.now()
        for name, title in (("a", "Zebras at the lake"), ("b", "Zebras\x1b[31m in the <b>city</b>")):
            lease = made.lease(f"http://{name}.test/1", category=name)
            item = made.passed(made.page(lease, "\n".join(paragraphs(name, count=3)), title=title))
            wired.leases.done(item.lease, status="fetched")
    return made


def test_indexed_articles_are_found(call: Call, reader: Reader) -> None:
    code, out, err = call("search", "zebras")
    assert (code, out) == (1, "")
    assert "no search index is complete yet" in err
    code, out, err = call("index", "--once")
    assert (code, out, err.splitlines()[-1]) == (0, "", "scrapy index: 2 documents changed, 0 events refused")
    assert json.loads(call("index", "--status")[1]) == {"documents": 2}
    code, out, err = call("search", "zebras", "lake")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"Zebras at the lake\n  \d{4}-\d\d-\d\d  http://a\.test/1\n  .+\n\n", out)
    code, out, _ = call("search", "zebras city", "--format", "json", "--source", "b.test", "--category", "b")
    assert json.loads(out)["highlights"]["title"] == (
        "<mark>Zebras</mark>\x1b[31m in the &lt;b&gt;<mark>city</mark>&lt;/b&gt;"
    )
    assert "\x1b" not in call("search", "city")[1]
    assert call("search", "zebras", "--since", "2100-01-01")[:2] == (1, "")
    assert call("search", "zebras", "--category", "c")[:2] == (1, "")
    assert len(call("search", "zebras", "--format", "json", "--limit", "1")[1].splitlines()) == 1


def test_an_unknown_option_is_no_word(call: Call, reader: Reader) -> None:
    call("index", "--once")
    with pytest.raises(UsageError, match="no such option: --json"):
        call("search", "zebras", "--json")
    assert call("search", "zebras", "-lake")[1].count("http://") == 1


def test_an_index_is_built_anew(call: Call, reader: Reader, tmp_path: Path) -> None:
    call("index", "--once")
    before = sorted(each.name for each in (tmp_path / "data/search").glob("index-*.sqlite"))
    assert call("index", "--rebuild", "--once")[0] == 0
    assert sorted(each.name for each in (tmp_path / "data/search").glob("index-*.sqlite")) != before
    assert json.loads(call("index", "--status")[1]) == {"documents": 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "-a"), "search_empty"),
        (("search", "x" * 501), "search_too_long"),
    ],
)
def test_words_that_cannot_be_searched(call: Call, words: tuple[str, ...], message: str) -> None:
    call("index", "--once")
    code, out, err = call(words[0], "--", *words[1:])
    assert (code, out) == (2, "")
    assert message in err


def test_index_and_search_name_the_setting_that_switches_them_off(call: Call, reader: Reader) -> None:
    for command in (("index", "--once"), ("search", "zebras")):
        code, out, err = call(*command, FEEDCRAWL_SEARCH="off")
        assert (code, out) == (2, "")
        assert "FEEDCRAWL_SEARCH is off" in err
