import pytest

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds import parse


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty"),
        (b" \n\0 ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"<!doctype html><title>Home</title>", "html"),
        (b"<html><head><title>Home</title></head><item>x</item></html>", "html"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head/></html>", "html"),
        (b"<!doctype html><title>404 Not Found</title><h1>Oops</h1>", "soft_404"),
        (
            b"<html><head><title>Shop</title></head><h1 class=x>This page can\xe2\x80\x99t be found</h1></html>",
            "soft_404",
        ),
        (b"<html><head><title>Seite nicht gefunden - Blatt</title></head></html>", "soft_404"),
        (b"<html><head><title>Room 4041</title></head><p>not found</p></html>", "html"),
        (b"<html><form><input name=u><input type=password name=p></form></html>", "login_page"),
        (
            b'<html><head><title>Just a moment...</title></head><script src="/cdn-cgi/challenge-platform/x"></script>',
            "challenge_page",
        ),
        (b'<html><script>var dd={"host":"geo.captcha-delivery.com"}</script></html>', "challenge_page"),
        (b'<html><body><div class="g-recaptcha"></div></body></html>', "challenge_page"),
        (b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>x</loc></url></urlset>', "sitemap"),
        (b'<opml version="2.0"><body><outline xmlUrl="x"/></body></opml>', "opml"),
        (b'<service xmlns="http://www.w3.org/2007/app"/>', "xml"),
        (b"<items><item/></items>", "xml"),
        (b"<rss", "xml"),
        (b'<meta http-equiv="refresh" content="0; url=/feed">', "html"),
        (b"<title>404 Not Found</title><h1>404 Not Found</h1>", "soft_404"),
        (b"<script>location.reload()</script><form><input type='password'></form>", "login_page"),
        (b"<H1>Datenbankfehler</H1>", "html"),
        (b"<p:items><item/></p:items>", "xml"),
        (b"%PDF-1.7 x", "binary"),
        (b"\x1f\x8b\x08\x00" + b"\0" * 100, "binary"),
        (b"PK\x03\x04xxxx", "binary"),
        (b"Not found", "text"),
        (b"/etc/passwd", "text"),
        (b"file:///etc/passwd", "text"),
        (b"http://127.0.0.1:9/feed.xml\n", "text"),
    ],
)
def test_a_foreign_document_is_refused_with_its_kind(body, code):
    with pytest.raises(NotAFeed) as refused:
        parse(body, url="https://news.example/feed")
    assert refused.value.code == code
    assert refused.value.detail


@pytest.mark.parametrize("body", [b"<rss version='2.0'", b"<?xml version='1.0'?><feed", b"<channel><x/></channel>"])
def test_the_refusal_of_half_a_feed_says_that_it_begins_like_a_feed(body):
    with pytest.raises(NotAFeed, match="begins like a feed"):
        parse(body, url="https://news.example/feed")


@pytest.mark.parametrize(
    ("body", "command"),
    [(b"<urlset/>", "`crawl sitemaps"), (b"<sitemapindex/>", "`crawl sitemaps"), (b"<opml/>", "`subscribe URL`")],
)
def test_the_refusal_of_a_list_names_the_command_for_it(body, command):
    with pytest.raises(NotAFeed, match=command):
        parse(body, url="https://news.example/feed")
