import pytest

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.search.query import Part, Query, Term, affordable, expression, parts, ranking, read

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
    ("text", "labels", "expected"),
    [
        ("green tea", (), COLUMNS + '("green" AND "tea")'),
        ("tea", ("c1", "s2"), COLUMNS + '("tea") AND labels : "c1" AND labels : "s2"'),
        ("tea -milk -sugar", (), f'({COLUMNS}("tea")) NOT {COLUMNS}("milk" OR "sugar")'),
        ("be*", (), COLUMNS + '("be" *)'),
        ("水", (), COLUMNS + '("水" *)'),
        ("東京都", (), COLUMNS + '("東京 京都")'),
    ],
)
def test_expressions(text: str, labels: tuple[str, ...], expected: str) -> None:
    assert expression(read(text), labels) == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tea", [Part(COLUMNS + '"tea"', COLUMNS + '("tea")')]),
        ('"green tea"', [Part(COLUMNS + '"green tea"', COLUMNS + '("green" AND "tea")', 4)]),
        ("e-mail", [Part(COLUMNS + '"e-mail"', COLUMNS + '("e" AND "mail")', 4)]),
        ("beg*", [Part(COLUMNS + '"beg" *', COLUMNS + '("beg" *)')]),
        ("be*", [Part(COLUMNS + '"be" *', None, 50)]),
        ("水", [Part(COLUMNS + '"水" *', COLUMNS + '("水" *)')]),
        ("東京都", [Part(COLUMNS + '"東京 京都"', COLUMNS + '("東京" AND "京都")', 4)]),
        (
            "a -b",
            [
                Part(COLUMNS + '"a"', COLUMNS + '("a")'),
                Part(COLUMNS + '"b"', COLUMNS + '("b")', ranks=False, selects=False),
            ],
        ),
    ],
)
def test_parts(text: str, found: list[Part]) -> None:
    label = Part('labels : "c1"', 'labels : "c1"', ranks=False)
    assert list(parts(read(text), ["c1"])) == [*found, label]


RARE, OFTEN, COMMON = Part("rare", "r"), Part("often", "o"), Part("common", "c")
LABEL, NOT = Part("label", "l", ranks=False), Part("not", "n", ranks=False, selects=False)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([(COMMON, 90), (RARE, 5)], "rare AND common"),
        ([(COMMON, 96), (RARE, 5)], "rare"),
        ([(COMMON, 96), (OFTEN, 50), (RARE, 5), (LABEL, 1)], "label AND rare AND often"),
        ([(COMMON, 101)], None),
        ([(COMMON, 101), (LABEL, 5)], None),
        ([(COMMON, 101), (NOT, 5)], None),
        ([(RARE, 5), (NOT, 6)], "rare"),
    ],
)
def test_the_rarest_terms_rank_within_a_budget(costs: list[tuple[Part, float]], expected: str | None) -> None:
    assert ranking(affordable(costs, 100)) == expected


def test_the_longest_searches_are_read() -> None:
    assert len(read(" ".join(map(str, range(32)))).terms) == 32
    assert read("a" * 500).terms
