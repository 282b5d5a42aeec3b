"""The dialect of a document by its root element."""

import pytest
from lxml import etree

from feedcrawl.domain.feeds.formats.dialects import format_of

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ('<rss version="2.0"/>', "rss2.0"),
        ('<rss version="2.01"/>', "rss2.0"),
        ('<rss version="0.91"/>', "rss0.91"),
        ('<rss version=" 0.94 "/>', "rss0.94"),
        ('<rss version="0.95"/>', "rss"),
        ("<rss/>", "rss"),
        (f'<rdf:RDF {RDF} xmlns="http://my.netscape.com/rdf/simple/0.9/"/>', "rss0.90"),
        (f'<rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/"/>', "rss1.0"),
        (f"<rdf:RDF {RDF}><item/></rdf:RDF>", "rss1.0"),
        (f"<rdf:RDF {RDF}><person/></rdf:RDF>", None),
        ('<feed xmlns="http://www.w3.org/2005/Atom"/>', "atom1.0"),
        ('<a:feed xmlns:a="https://www.w3.org/2005/Atom/"/>', "atom1.0"),
        ('<feed xmlns="http://purl.org/atom/ns#" version="0.3"/>', "atom0.3"),
        ('<feed version="0.2"/>', "atom0.2"),
        ('<feed version="two"/>', "atom"),
        ("<feed/>", "atom"),
        ('<entry xmlns="http://www.w3.org/2005/Atom"/>', "atom1.0"),
        ("<entry/>", None),
        ('<Channel xmlns="http://purl.org/net/rss1.1#"/>', "rss1.1"),
        ("<CHANNEL/>", "cdf"),
        ('<Channel HREF="http://a.example/"/>', "cdf"),
        ("<channel><abstract/></channel>", "cdf"),
        ("<channel><title/></channel>", "rss"),
        ("<channel/>", None),
        ("<html/>", None),
    ],
)
def test_the_format_of_a_root_element(document: str, expected: str | None) -> None:
    assert format_of(etree.fromstring(document)) == expected
