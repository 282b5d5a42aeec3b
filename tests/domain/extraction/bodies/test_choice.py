import pytest

from feedcrawl.domain.extraction.bodies.choice import Choice, _fuller, _may_be_fuller, choose
from feedcrawl.domain.extraction.bodies.rungs import by_feed, by_markup
from feedcrawl.domain.extraction.bodies.soundness import vote
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.models import FeedContent, SourceRules

SENTENCES = [f"Sentence number {n} tells what happened in the harbour on day {n * n} of the year." for n in range(60)]


def paragraphs(first, last):
    return "".join(f"<p>{sentence}</p>" for sentence in SENTENCES[first:last])


@pytest.mark.parametrize(
    ("texts", "winner"),
    [
        ({"prose": paragraphs(0, 9)}, "prose"),
        ({"prose": paragraphs(0, 9), **dict.fromkeys(["structured", "trafilatura"], paragraphs(9, 19))}, "structured"),
        ({"prose": paragraphs(0, 9), "readability": paragraphs(0, 8)}, "prose"),
        ({"prose": paragraphs(0, 2), "readability": paragraphs(8, 9), "trafilatura": paragraphs(0, 30)}, "trafilatura"),
        ({"prose": paragraphs(0, 2), "trafilatura": f"<a href=/>{paragraphs(0, 30)}</a>"}, "prose"),
        ({"prose": "<p>;;;</p>", "trafilatura": "<p>...</p>"}, "prose"),
    ],
)  # fmt: skip
def test_vote(texts, winner):
    found = vote([candidate for rung, html in texts.items() if (candidate := by_markup(rung, html))])
    assert found is not None
    assert found.winner.rung == winner
    assert found.is_supported is ("agree" not in found.reason)


def test_no_candidates_no_winner():
    assert vote([]) is None


def page(body, head=""):
    return read_page(
        f"<html><head><title>Harbour</title>{head}</head><body>{body}</body></html>", "https://d.example/x"
    )


@pytest.mark.parametrize("head", ["", "<meta property=og:type content=article>"])
def test_a_long_text_needs_no_second_opinion(head):
    found = choose(page(f"<div>{paragraphs(0, 40)}</div>", head), SourceRules(), None)
    assert found is not None
    assert (found.winner.rung, found.winner.text) == ("prose", "\n".join(SENTENCES[:40]))


def test_a_short_candidate_that_the_feed_does_not_foretell_is_compared():
    short = page(f"<article>{paragraphs(0, 12)}</article>")
    feed_content = FeedContent(summary=SENTENCES[0])
    assert "agrees" in choose(short, SourceRules(), None).reason
    assert "as the page says" in choose(short, SourceRules(), feed_content).reason


# No extractor of articles takes such a section.
SECTION = "<section class='promo community'><h2>Pier</h2><div>Open at nine</div><div>No cranes</div></section>"
ITEMS = "".join(f"<li><a href=/{n}>Ship number {n} of the fleet</a> {n} tons</li>" for n in range(60))


def chosen(body, url, head=""):
    tags = f"<html><head><title>Harbour</title>{head}</head><body><h1>Harbour</h1>{body}</body></html>"
    found = choose(read_page(tags, url), SourceRules(), None)
    return found and (found.winner.rung == "area", found.kind)


SERVICE = f"<div>{paragraphs(0, 9)}</div>{SECTION * 30}"
DATED = f"<p>March 1, 2026</p>{SECTION * 30}"


@pytest.mark.parametrize(
    ("body", "url", "head", "found"),
    [
        (SERVICE, "https://d.example/towing", "", (True, "service")),
        (SERVICE, "https://d.example/blog/towing", "", (False, None)),
        (f"<p>March 1, 2026</p>{SERVICE}", "https://d.example/towing", "", (False, None)),
        (f"<p>By Ann Lee</p>{SERVICE}", "https://d.example/towing", "", (False, None)),
        (DATED, "https://d.example/towing", "", (True, "service")),
        (DATED, "https://d.example/collections/tugs", "", (True, "listing")),
        (DATED, "https://d.example/blog/towing", "", (True, None)),
        (paragraphs(0, 60), "https://d.example/towing", "", (False, None)),
        (f"<ul>{ITEMS}</ul>", "https://d.example/ships", "", (True, "listing")),
        (f"{paragraphs(0, 9)}<ul>{ITEMS}</ul>", "https://d.example/ships", "", (True, "listing")),
        (f"{SERVICE}", "https://d.example/collections/tugs", "", (True, "listing")),
        (f"{paragraphs(0, 9)}{SECTION}", "https://docs.d.example/tow", "", (True, None)),
        (f"{paragraphs(0, 9)}<ul>{ITEMS}</ul>", "https://docs.d.example/tow", "", (False, None)),
        (f"<p>Parts</p>{SECTION * 9}<ul>{ITEMS}</ul>", "https://docs.d.example/tow", "", (True, None)),
        (SECTION * 30, "https://d.example/p/tug", "<meta property=og:type content=product>", (True, None)),
        (SERVICE + paragraphs(0, 9), "https://d.example/p/tug", "", (False, None)),
    ],
)  # fmt: skip
def test_pages_that_are_no_articles_have_their_main_area_as_text(body, url, head, found):
    assert chosen(body, url, head) == found


TEASERS = "".join(f"<li><a href=/s/{n}>{SENTENCES[n]}</a></li>" for n in range(40))
CONSENT = "<p>We use cookies to give you the best experience. Please let us know if you agree to cookies.</p>"
SCRIPTS = "<p>You need to enable JavaScript to run this app.</p>"
STATED = "<meta property=article:published_time content=2026-03-01>"


@pytest.mark.parametrize(
    ("body", "head", "found"),
    [
        # A banner beside the headlines of a section.
        (f"{CONSENT}<ul>{TEASERS}</ul>", "", (True, "listing")),
        # A page that states an article keeps a short text on which extractors agree, but not a text of links.
        (f"{paragraphs(0, 4)}<ul>{TEASERS}</ul>", "", (True, "listing")),
        (f"{paragraphs(0, 4)}<ul>{TEASERS}</ul>", STATED, (False, None)),
        # A wall that stands before an article remains a wall.
        (f"{SCRIPTS}<ul>{TEASERS}</ul>", "", (False, None)),
        # A longer text is no line of a list.
        (f"{paragraphs(0, 12)}<ul>{TEASERS}</ul>", "", (False, None)),
    ],
)
def test_a_short_text_beside_a_long_main_area_is_not_the_text_of_the_page(body, head, found):
    assert chosen(body, "https://d.example/news/harbour", head) == found


@pytest.mark.parametrize("separator", [" ", "<p>", "</td><td>", "\u0130 "])
@pytest.mark.parametrize("count", [1, 3, 4, 5, 20, 90, 96, 97, 98, 99, 100, 110, 120, 130, 400])
def test_a_feed_that_is_not_parsed_could_not_have_been_fuller(separator, count):
    letters = [chr(ord("a") + number % 26) for number in range(400)]
    candidate = by_markup("prose", " ".join(letters[:50]))
    assert candidate is not None
    best = Choice(candidate, "")
    feed = FeedContent(content=separator.join(letters[:count]))
    is_fuller = _fuller(best, by_feed(feed), trusted=False) is not best
    assert _may_be_fuller(feed, best) >= is_fuller


def test_a_teaser_in_the_feed_of_a_whole_article_is_not_read():
    candidate = by_markup("prose", paragraphs(0, 40))
    assert candidate is not None
    assert not _may_be_fuller(FeedContent(content=paragraphs(0, 3)), Choice(candidate, ""))
