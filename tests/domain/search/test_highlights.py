import pytest

from feedcrawl.domain.search.highlights import as_html, marked, passage
from feedcrawl.domain.search.query import read


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("Green tea", "tea", "Green <mark>tea</mark>"),
        ("Steam and teas", "tea", "Steam and teas"),
        ("Steam and teas", "tea*", "Steam and <mark>teas</mark>"),
        ("Café, CAFE\u0301 and cafe", "cafe", "<mark>Café</mark>, <mark>CAFE\u0301</mark> and <mark>cafe</mark>"),
        ("green, green TEA", '"green tea"', "green, <mark>green TEA</mark>"),
        ("tea without milk", "tea -milk", "<mark>tea</mark> without milk"),
        ("<b>tea</b> & more", "tea", "&lt;b&gt;<mark>tea</mark>&lt;/b&gt; &amp; more"),
        ("<script>", "script", "&lt;<mark>script</mark>&gt;"),
        ("東京都に行く", "京都", "東<mark>京都</mark>に行く"),
        ("ภาษาไทย", "ไทย", "ภาษา<mark>ไทย</mark>"),
        ("Don't e-mail", "don't e-mail", "<mark>Don&#x27;t</mark> <mark>e-mail</mark>"),
        ("İstanbul", "istanbul", "<mark>İstanbul</mark>"),
        ("nothing", "tea", "nothing"),
        ("", "tea", ""),
    ],
)
def test_marked(text: str, query: str, shown: str) -> None:
    assert as_html(marked(text, read(query))) == shown


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("a " * 40 + "green tea" + " z" * 40, "tea green", "… a <mark>green</mark> <mark>tea</mark> z z z z z z z z …"),
        ("tea first\nthen more of it, and nothing", "tea", "<mark>tea</mark> first then more of it, …"),
        ("tea " + "a " * 40 + "tea with milk", "milk tea", "… a <mark>tea</mark> with <mark>milk</mark>"),
        ("no such word in this long text", "tea", "no such word in this long …"),
        ("short", "tea", "short"),
        ("永" * 30 + "東京" + "永" * 30, "東京", f"… {'永' * 4}<mark>東京</mark>{'永' * 22} …"),
    ],
)
def test_passages(text: str, query: str, shown: str) -> None:
    assert as_html(passage(text, read(query), 28)) == shown
