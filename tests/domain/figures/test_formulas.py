import pytest
from lxml import etree

from feedcrawl.domain.figures.formulas import settle_formulas
from feedcrawl.domain.markup import Elements, parse_html

ROW = "<mrow><mi>E</mi><mo>=</mo><mi>m</mi></mrow>"
MATH = f"<math>{ROW}</math>"
TEX = "<annotation encoding='application/x-tex'>E=m</annotation>"
SEMANTICS = f"<math><semantics>{ROW}{TEX}</semantics></math>"


KATEX = f"<span class=katex><span class=katex-mathml>{SEMANTICS}</span><span class=katex-html>E=m</span></span>"
MATHJAX_3 = (
    "<mjx-container class=MathJax><mjx-math aria-hidden=true>E=m</mjx-math>"
    f"<mjx-assistive-mml>{MATH}</mjx-assistive-mml></mjx-container>"
)
MATHJAX_2 = (
    "<span class=MathJax_Preview>E=m</span><span class=MathJax><nobr aria-hidden=true>E=m</nobr>"
    f"<span class=MJX_Assistive_MathML>{MATH}</span></span>"
)
MEDIAWIKI = (
    f"<span class=mwe-math-element><span style='display: none'>{SEMANTICS}</span><img src=/f.svg alt='E=m'></span>"
)


@pytest.mark.parametrize(
    ("html", "settled"),
    [
        (MATH, MATH),
        (SEMANTICS, MATH),
        (KATEX, MATH),
        (MATHJAX_3, MATH),
        (MATHJAX_2, MATH),
        (MEDIAWIKI, MATH),
        ("<span>E=m</span>", "<span>E=m</span>"),
        ("<math></math>", ""),
        ("<math><mi>E</mi><math><mi>m</mi></math></math>", "Em"),
        ("<math><mi>E</mi><b>m</b></math>", "E<b>m</b>"),
    ],
)
def test_a_formula_is_left_once(html, settled):
    tree = parse_html(f"<body><p>It is {html} here.</p></body>")
    assert tree is not None
    settle_formulas(Elements(tree))
    body = etree.tostring(tree.find("body"), encoding="unicode", method="html")
    assert body == f"<body><p>It is {settled} here.</p></body>"
