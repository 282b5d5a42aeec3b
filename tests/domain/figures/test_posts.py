import pytest

from feedcrawl.domain.extraction import extract
from feedcrawl.domain.figures.embeds import embed_of
from feedcrawl.domain.figures.posts import settle_posts
from feedcrawl.domain.markup import Elements, parse_html
from feedcrawl.domain.sanitize import clean_html

TWEET = (
    "<blockquote class='twitter-tweet' data-lang=fr><p lang=en dir=ltr>The bridge <a href='https://twitter.com/hashtag/tay'>"
    "#tay</a> is open.<br>Mind the wind.</p>&mdash; Ann Lee (@annlee) "
    "<a href='https://twitter.com/annlee/status/42?ref_src=twsrc%5Etfw'>March 3, 2026</a></blockquote>"
    "<script async src='https://platform.twitter.com/widgets.js'></script>"
)
TWEET_URL = "https://twitter.com/annlee/status/42?ref_src=twsrc%5Etfw"
INSTAGRAM = (
    "<blockquote class='instagram-media' data-instgrm-permalink='https://www.instagram.com/p/CU-W/?utm_source=ig_embed'>"
    "<div><a href='https://www.instagram.com/p/CU-W/'><div>Sieh dir diesen Beitrag auf Instagram an</div></a>{}<p>"
    "<a href='https://www.instagram.com/p/CU-W/'>Ein Beitrag geteilt von Ann (@ann)</a></p></div></blockquote>"
)
TIKTOK = (
    "<blockquote class=tiktok-embed cite='https://www.tiktok.com/@bo/video/7' data-video-id=7><section>"
    "<a href='https://www.tiktok.com/@bo?refer=embed'>@bo</a> <p>why not <a href=/tag/cats>#cats</a></p>"
    "<a href='https://www.tiktok.com/music/x'>♬ original sound - bo</a></section></blockquote>"
)
BLUESKY = (
    "<blockquote class=bluesky-embed data-bluesky-uri='at://did:plc:x/app.bsky.feed.post/3k'><p lang=en>Words.</p>"
    "&mdash; Bo (<a href='https://bsky.app/profile/bo.test'>@bo.test</a>) "
    "<a href='https://bsky.app/profile/bo/post/3k'>May 3</a></blockquote>"
)
MASTODON = (
    "<blockquote class=mastodon-embed data-embed-url='https://social.test/@bo/1/embed'><a href='https://social.test/@bo/1'>"
    "<div>Post by @bo@social.test</div><div>View on Mastodon</div></a></blockquote>"
)
FACEBOOK = (
    "<div class=fb-post data-href='https://www.facebook.com/bo/posts/1'><blockquote><p>We moved.</p>Posted by "
    "<a href='https://www.facebook.com/bo'>Bo</a> on <a href='/bo/posts/1'>May 3</a></blockquote></div>"
)
REDDIT = (
    "<blockquote class=reddit-embed-bq><a href='https://www.reddit.com/r/x/comments/1/t/'>A title</a><br>by "
    "<a href='https://www.reddit.com/user/bo/'>u/bo</a> in <a href='https://www.reddit.com/r/x/'>x</a></blockquote>"
)


def tree(html):
    document = parse_html(f"<body><div>{html}</div></body>")
    assert document is not None
    settle_posts(Elements(document))
    return document.find(".//div")


@pytest.mark.parametrize(
    ("html", "url", "title", "words"),
    [
        (TWEET, TWEET_URL, "Ann Lee (@annlee) March 3, 2026", ("The bridge #tay is open.", "Mind the wind.")),
        (
            "<blockquote class=twitter-tweet><a href='https://twitter.com/a/status/1'></a></blockquote>",
            "https://twitter.com/a/status/1",
            "Twitter",
            (),
        ),
        (
            INSTAGRAM.format(""),
            "https://www.instagram.com/p/CU-W/?utm_source=ig_embed",
            "Ein Beitrag geteilt von Ann (@ann)",
            (),
        ),
        (
            INSTAGRAM.format("<p><a href='https://www.instagram.com/p/CU-W/'>A caption of some words</a></p>"),
            "https://www.instagram.com/p/CU-W/?utm_source=ig_embed",
            "Ein Beitrag geteilt von Ann (@ann)",
            ("A caption of some words",),
        ),
        (TIKTOK, "https://www.tiktok.com/@bo/video/7", "@bo", ("why not #cats",)),
        (BLUESKY, "https://bsky.app/profile/bo/post/3k", "Bo (@bo.test) May 3", ("Words.",)),
        (MASTODON, "https://social.test/@bo/1", "Post by @bo@social.test", ()),
        (
            "<iframe class=mastodon-embed src='https://social.test/@bo/1/embed'>",
            "https://social.test/@bo/1",
            "Mastodon",
            (),
        ),
        (FACEBOOK, "https://www.facebook.com/bo/posts/1", "Posted by Bo on May 3", ("We moved.",)),
        (
            "<div class=fb-video data-href='https://www.facebook.com/bo/videos/1'></div>",
            "https://www.facebook.com/bo/videos/1",
            "Facebook",
            (),
        ),
        (
            REDDIT,
            "https://www.reddit.com/r/x/comments/1/t/",
            "by u/bo in x",
            ("A title",),
        ),
        (
            "<blockquote class=imgur-embed-pub><a href='https://imgur.com/UD'>View post on imgur.com</a></blockquote>",
            "https://imgur.com/UD",
            "View post on imgur.com",
            (),
        ),
        ("<amp-twitter data-tweetid=42></amp-twitter>", "https://twitter.com/i/status/42", "Twitter", ()),
        ("<amp-instagram data-shortcode=CU-W></amp-instagram>", "https://www.instagram.com/p/CU-W/", "Instagram", ()),
        ("<script async data-telegram-post='durov/12'></script>", "https://t.me/durov/12", "Telegram", ()),
        (
            "<script src='https://gist.github.com/bo/a1.js?file=x'></script>",
            "https://gist.github.com/bo/a1",
            "Gist",
            (),
        ),
    ],
)
def test_a_post_is_its_address_signature_and_words(html, url, title, words):
    assert embed_of(tree(html)[0]) == (url, title, words)


@pytest.mark.parametrize(
    "html",
    [
        "<blockquote class=twitter-tweet><p>A post without its address.</p></blockquote>",
        "<blockquote class=pull-quote><p>Words.</p><a href='https://a.test/'>A</a></blockquote>",
        "<div class='fb-like fb-posts' data-href='https://a.test/'>Like</div>",
        "<script src='https://gist.github.com.evil.test/bo/a1.js'></script>",
        "<script data-telegram-post='javascript:alert(1)'></script>",
        "<amp-twitter></amp-twitter>",
    ],
)
def test_an_iframe_of_another_kind_stays_unchanged(html):
    assert next(tree(html).iter("iframe"), None) is None


def test_a_post_is_a_quotation_with_its_link():
    cleaned = clean_html(f"<p>He wrote:</p>{TWEET}<p>So it was.</p>", base_url="https://a.test/")
    link = f'<a href="{TWEET_URL}" rel="noopener noreferrer" target="_blank" referrerpolicy="no-referrer">'
    assert cleaned == (
        f'<p>He wrote:</p><figure><blockquote cite="{TWEET_URL}"><p>The bridge #tay is open.</p><p>Mind the wind.</p>'
        f"</blockquote><figcaption>{link}Ann Lee (@annlee) March 3, 2026</a></figcaption></figure><p>So it was.</p>"
    )
    assert clean_html(cleaned, base_url="https://a.test/") == cleaned


def test_a_post_within_a_figure_makes_no_second_figure():
    cleaned = clean_html(f"<figure>{TWEET}</figure>", base_url="https://a.test/")
    assert cleaned.count("<figure>") == 1
    assert "<blockquote" in cleaned


@pytest.mark.parametrize("markup", ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</p><b onclick=x>"])
def test_the_words_of_a_post_are_text(markup):
    quoted = markup.replace("&", "&amp;").replace("<", "&lt;")
    cleaned = clean_html(
        f"<iframe src='javascript:alert(1)' data-quotation='{quoted}'></iframe>"
        f"<iframe src='https://a.test/' title='{quoted}' data-quotation='{quoted}'></iframe>",
        base_url="https://a.test/",
    )
    assert "<img" not in cleaned
    assert "<script" not in cleaned
    assert "javascript" not in cleaned
    assert cleaned.count("<blockquote") == 1


PROSE = "".join(
    f"<p>Sentence number {n} of the story is long enough to be taken for prose by anyone.</p>" for n in range(9)
)
ARTICLE = '<meta property="article:published_time" content="2026-03-03T08:00:00Z">'


@pytest.mark.parametrize(("head", "is_text"), [(ARTICLE, False), ("", True)])
@pytest.mark.parametrize("post", [TWEET, f"<div class='embed tweet'>{TWEET}</div>", f"<figure>{TWEET}</figure>"])
def test_the_posts_of_an_article_stay(head, is_text, post):
    page = f"<html><head><title>T</title>{head}</head><body><article>{PROSE}{post}{PROSE}</article></body></html>"
    found = extract(page, url="https://a.test/1")
    assert f'<blockquote cite="{TWEET_URL}"><p>The bridge #tay is open.</p>' in (found.html or "")
    assert ("The bridge #tay is open.\nMind the wind.\n" in found.text) is is_text


def test_a_post_is_no_article():
    long = TWEET.replace("The bridge", "The bridge" * 400)
    page = f"<html><body><article>{PROSE}</article><aside>{long}</aside></body></html>"
    found = extract(page, url="https://a.test/1")
    assert "Sentence number 8" in found.text
    assert "bridge" not in found.text
