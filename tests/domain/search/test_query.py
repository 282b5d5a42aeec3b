import pytest

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.search.query import Query, Term, expression, read

COLUMNS = "{title text people} : "


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("green tea", (Term("green"), Term("tea"))),
        ('"green tea"', (Term("green tea"),)),
        ("“green tea”", (Term("green tea"),)),
        ("„grüner Tee“ -kaffee", (Term("gruner Tee"), Term("kaffee", excluded=True))),
        ('tea -"green tea"', (Term("tea"), Term("green tea", excluded=True))),
        ("begin*", (Term("begin", prefix=True),)),
        ("AND OR NOT", (Term("AND"), Term("OR"), Term("NOT"))),
        ("title:x NEAR(a", (Term("title:x"), Term("NEAR(a"))),
        ('"never closed', (Term("never closed"),)),
        ("--x", (Term("--x"),)),
        ("a - b", (Term("a"), Term("b"))),
        ("tea tea", (Term("tea"),)),
        ("e-mail", (Term("e-mail"),)),
        ('x"y z"', (Term("x"), Term("y z"))),
        ("!!! tea ***", (Term("tea"),)),
        ("\uff54\uff45\uff41", (Term("tea"),)),
    ],
)
def test_terms(text: str, terms: tuple[Term, ...]) -> None:
    assert read(text) == Query(terms)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "search_empty"),
        ('"" * - ()', "search_empty"),
        ("-tea", "search_empty"),
        ("a" * 501, "search_too_long"),
        (" ".join(map(str, range(33))), "search_too_long"),
    ],
)
def test_refused(text: str, code: str) -> None:
    with pytest.raises(Refusal) as raised:
        read(text)
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("text", "labels", "wanted"),
    [
        ("green tea", (), COLUMNS + '("green" AND "tea")'),
        ("tea", ("c1", "s2"), COLUMNS + '("tea") AND labels : "c1" AND labels : "s2"'),
        ("tea -milk -sugar", (), f'({COLUMNS}("tea")) NOT {COLUMNS}("milk" OR "sugar")'),
        ("be*", (), COLUMNS + '("be" *)'),
        ("水", (), COLUMNS + '("水" *)'),
        ("東京都", (), COLUMNS + '("東京 京都")'),
    ],
)
def test_expressions(text: str, labels: tuple[str, ...], wanted: str) -> None:
    assert expression(read(text), labels) == wanted
