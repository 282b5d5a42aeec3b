import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.markup.end_tags import close_boxes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<nav><div>menu</nav><p>text", "<nav><div>menu</div></nav><p>text"),
        ("<NAV><div><ul><DIV></NAV>", "<NAV><div><ul><DIV></div></div></NAV>"),
        (
            "<section><div><figure><div></figure></section>",
            "<section><div><figure><div></div></figure></div></section>",
        ),
        # An end tag closes nothing outside of its cell, and nothing if its element is not open.
        (
            "<nav><div><table><tr><td></nav><td><div></table></nav>",
            "<nav><div><table><tr><td></nav><td><div></table></div></nav>",
        ),
        ("<div></nav>", "<div></nav>"),
        ("<aside><td><div><th></aside>", "<aside><td><div><th></aside>"),
        # Within these there are no tags.
        ("<nav><!-- <div> --></nav><div>", "<nav><!-- <div> --></nav><div>"),
        ("<nav><script>'<div>'</script></nav><div>", "<nav><script>'<div>'</script></nav><div>"),
        ('<nav><ul title="<div>"></ul></nav><div>', '<nav><ul title="<div>"></ul></nav><div>'),
        ('<nav><ul title=\'a">\' id="<div>"></nav><div>', '<nav><ul title=\'a">\' id="<div>"></nav><div>'),
        ("<nav><div><!-- </nav>", "<nav><div><!-- </nav>"),
        ("<nav><div><script></nav>", "<nav><div><script></nav>"),
        ("<nav><div><xmp></nav></xmp></nav>", "<nav><div><xmp></nav></xmp></div></nav>"),
        ("<nav><div><noframes></nav></noframes></nav>", "<nav><div><noframes></nav></noframes></div></nav>"),
        ('<nav><div><ul id="x"', '<nav><div><ul id="x"'),
        # Names that begin with the name of a box are others.
        ("<nav><divider></nav><div>", "<nav><divider></nav><div>"),
        # A quotation mark counts after an equals sign only (WHATWG HTML, 13.2.5.33).
        ('<nav><ul a"b><div></nav>"', '<nav><ul a"b><div></div></nav>"'),
    ],
)
def test_an_end_tag_closes_the_boxes_within_its_element(before: str, after: str) -> None:
    assert close_boxes(before.encode()).decode() == after


@pytest.mark.parametrize("name", ["nav", "noscript"])
def test_what_follows_an_element_is_not_in_the_element(name: str) -> None:
    tree = parse_html(f"<body><{name}><div>Menu</{name}><main><p>Text</p></main>")
    assert tree is not None
    (text,) = tree.iter("p")
    assert [kin.tag for kin in text.iterancestors()] == ["main", "body", "html"]


well_formed = st.recursive(
    st.sampled_from(["", "text", "<p>text</p>", "<br>"]),
    lambda inner: st.builds(
        lambda name, parts: f"<{name}>{''.join(parts)}</{name}>",
        st.sampled_from(["div", "nav", "section", "ul", "table", "td", "figure"]),
        st.lists(inner, max_size=4),
    ),
)


@given(well_formed)
def test_a_document_whose_tags_all_end_is_left_as_it_is(html: str) -> None:
    document = f"{html}<div>".encode()
    assert close_boxes(document) == document


@pytest.mark.parametrize(
    "piece",
    ["<nav><div>", "</nav>", "<div></nav>", "<table></td>", "<td></table>", '<nav a="', "<!--", "<script>", "<nav ='"],
)
def test_the_cost_grows_with_the_document(piece: str) -> None:
    assert_linear(lambda times: close_boxes(("<nav><table><div>" + times * piece).encode()), 12_500)
