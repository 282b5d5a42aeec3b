import re

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.text import canonical_text, fold, lowered, plain_text, squeezed, text_of, words

BLOCKS = [
    ("<p>one</p><p>two</p>", "one\ntwo"),
    ("<p>one <b>bold</b>\n  and <i>more</i></p>", "one bold and more"),
    ("one<br>two", "one\ntwo"),
    ("<div>a<div>b</div>c</div>", "a\nb\nc"),
    ("<h2>Head</h2>text", "Head\ntext"),
    ("<ul><li>one</li><li>two <a href='/x'>link</a></li></ul>", "- one\n- two link"),
    ("<ol><li><p>first</p></li><li>second</li></ol>", "- first\n- second"),
    ("<blockquote><p>said</p></blockquote>he", "said\nhe"),
    ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
    ("<table><tr><td><p>layout</p><p>table</p></td></tr></table>", "layout\ntable"),
    ("<pre>x = 1\n    y = 2\n</pre>after", "x = 1\n    y = 2\nafter"),
    ("<pre>\tindent</pre>", "    indent"),
    ("<p>a<script>b()</script><style>c{}</style><noscript>d</noscript>e</p>", "ae"),
    ("<form><label>name</label><input value='x'><button>go</button><select><option>o</select></form>", "name"),
    ("<p>a&nbsp;&nbsp;b\u2003c</p>", "a b c"),
    ("<p>soft\u00adhyphen, zero\u200bwidth</p>", "softhyphen, zerowidth"),
    ("<p>\u202eevil\u202c</p>", "evil"),
    ("<p>क\u200cष</p>", "क\u200cष"),
    ("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を</p>", "漢字(かんじ)を"),
    ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n- b\n- c"),
    ("<dl><dt>term</dt><dd>what it is</dd></dl>", "term\nwhat it is"),
    ("<p>x<sup>2</sup>, a<wbr>b</p>", "x2, ab"),
    ("<details><summary>more</summary>hidden</details>", "more\nhidden"),
    ("<p>  </p><div> <span></span> </div>", ""),
    ("<!-- comment --><p>a<!-- x -->b</p>", "ab"),
    ("<x-card>one</x-card><x-card>two</x-card>", "one two"),
    ("<p>one<x-mark>1</x-mark>, two</p>", "one1, two"),
    ("<p>one<iframe></iframe>two</p>", "one two"),
    ("<p>It is <math><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>.</p>", "It is mc2."),
    ("<figure><img src=a><figcaption>words</figcaption></figure><p>text</p>", "words\ntext"),
]


@pytest.mark.parametrize(("html", "text"), BLOCKS)
def test_blocks_are_lines(html, text):
    assert plain_text(html) == text


def test_captions_may_be_left_out():
    tree = parse_html(
        "<body><figure><img src=a>x<figcaption>words</figcaption></figure><figure><pre>code</pre></figure>"
    )
    assert tree is not None
    assert canonical_text(tree, captions=False) == "code"
    tree = parse_html("<body><figure><p>A film</p></figure><figure><blockquote>said</blockquote></figure>")
    assert tree is not None
    assert canonical_text(tree, captions=False) == "said"


@pytest.mark.parametrize(
    ("raw", "folded"),
    [
        ("  a \n\t b ", "a b"),
        ("e\u0301", "é"),
        ("Z" + "\u0301" * 10_000, "Ź" + "\u0301" * 3),
        ("a\x00b\x1b[31m", "ab[31m"),
        ("\ud800x", "x"),
        ("\u2066a\u2069", "a"),
    ],
)
def test_fold(raw, folded):
    assert fold(raw) == folded


def test_plain_text_is_only_folded():
    assert plain_text("a  b\n\nc") == "a b\nc"


def test_words():
    assert words("Ein Wort, zwei-Wörter 3") == ["ein", "wort", "zwei", "wörter", "3"]


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_fold_is_idempotent(text):
    assert fold(fold(text)) == fold(text)


@given(st.text("<>/abp &;\n\u200b\u00adé", max_size=200))
def test_lines_are_folded_and_not_empty(html):
    for line in plain_text(html).splitlines():
        assert line.strip() == line != ""


BLOCK = st.sampled_from(["p", "div", "section", "blockquote", "h2", "article"])


@given(st.lists(st.tuples(BLOCK, st.integers(0, 9)), min_size=1, max_size=8), st.sampled_from(["", "\n", "<!-- x -->"]))
def test_blocks_never_share_a_line_whatever_is_around_them(blocks, between):
    html = between.join(f"<{tag}>word <b>{number}</b></{tag}>" for tag, number in blocks)
    nested = f"<div>{between}<main>{html}</main></div>"
    assert plain_text(nested).splitlines() == [f"word {number}" for _, number in blocks]
    assert plain_text(nested) == plain_text(html)


@given(st.text())
def test_squeezed_text_has_the_words_alone(text) -> None:
    assert squeezed(text) == re.sub(r"\W+", "", text).lower()


def test_squeezed() -> None:
    assert squeezed("The “Harbour” — closed!") == "theharbourclosed"
    assert squeezed("The “Harbour”", 5) == "theha"


def test_lowered_text_is_as_long() -> None:
    assert lowered("GÜNCELLEME TARİHİ: 5") == "güncelleme tarihi: 5"


@given(st.text())
def test_each_letter_of_lowered_text_keeps_its_position(text: str) -> None:
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a>One  line\nof \u00ad text</a>", "One line of text"),
        ("<a> | </a>", ""),
        ("<a></a>", ""),
        ("<a>One<b>two</b>three</a>", "Onetwothree"),
        ("<span>One<br>two</span>", "One two"),
        ("<button>One</button>", ""),
        ("<li>One</li>", "- One"),
    ],
)
def test_text_of(html, text):
    tree = parse_html(f"<body>{html}tail</body>")
    assert tree is not None
    assert text_of(next(tree.iterdescendants("a", "span", "button", "li"))) == text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><td> </td><td>\u200b</td><td>a</td><td> </td><td>b</td></tr></table>", "a | | b"),
        ("<pre><td> </td><td>a</td><td>b</td></pre>", "a | b"),
    ],
)
def test_cells_are_joined_from_the_first_with_text(html: str, expected: str) -> None:
    tree = parse_html(f"<div>{html}</div>")
    assert tree is not None
    assert canonical_text(tree).strip() == expected


@pytest.mark.parametrize("cell", ["<td>words</td>", "<td> </td>", "<pre><td> </td>"])
def test_a_row_of_many_cells_takes_linear_time(cell: str) -> None:
    def run(count: int) -> None:
        tree = parse_html(f"<div>{cell * count}</div>")
        assert tree is not None
        canonical_text(tree)

    assert_linear(run, 5_000)
