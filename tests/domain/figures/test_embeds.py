import pytest

from feedcrawl.domain.figures.embeds import embed_of, show_embeds
from feedcrawl.domain.markup import parse_html

YOUTUBE = "https://www.youtube.com/watch?v=abc123"


def tree(html):
    document = parse_html(f"<body><div>{html}</div></body>")
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("html", "embed"),
    [
        ("<iframe src='https://www.youtube.com/embed/abc123?rel=0' title='A  film'>", (YOUTUBE, "A film")),
        ("<iframe data-src='//www.youtube-nocookie.com/embed/abc123'>", (YOUTUBE, "YouTube")),
        (
            "<iframe src='https://www.youtube.com/embed/videoseries?list=PL1'>",
            ("https://www.youtube.com/playlist?list=PL1", "YouTube"),
        ),
        ("<lite-youtube videoid=abc123></lite-youtube>", (YOUTUBE, "YouTube")),
        ("<amp-youtube data-videoid=abc123></amp-youtube>", (YOUTUBE, "YouTube")),
        ("<iframe src='https://player.vimeo.com/video/42?h=1' aria-label=Film>", ("https://vimeo.com/42", "Film")),
        ("<iframe src='https://open.spotify.com/embed/x'>", ("https://open.spotify.com/embed/x", "Spotify")),
        (
            "<iframe src='about:blank' data-src='https://w.soundcloud.com/player/?url=x'>",
            ("https://w.soundcloud.com/player/?url=x", "SoundCloud"),
        ),
        ("<iframe src='https://www.google.com/maps/embed?pb=x'>", ("https://www.google.com/maps/embed?pb=x", "Google")),
        ("<iframe src='https://www.google.com/recaptcha/x'>", None),
        (
            "<iframe src='https://www.facebook.com/plugins/video.php?href=x'>",
            ("https://www.facebook.com/plugins/video.php?href=x", "Facebook"),
        ),
        ("<iframe src='https://www.facebook.com/plugins/like.php?href=x'>", None),
        ("<iframe src='https://ads.example/x' title=Advert>", None),
        ("<iframe src='https://youtube.com.ads.example/embed/abc123'>", None),
        ("<iframe src='javascript:alert(1)'>", None),
        ("<iframe src='https://[youtube.com/embed/x'>", None),
        ("<iframe>", None),
        ("<video controls><source src=/film.mp4?x=1>No film.</video>", ("/film.mp4?x=1", "film.mp4")),
        ("<audio src=/talk.mp3 title='A talk'></audio>", ("/talk.mp3", "A talk")),
        ("<video src='blob:https://news.example/1'></video>", None),
    ],
)  # fmt: skip
def test_embed_of(html, embed):
    found = embed_of(tree(html).find(".//div")[0])
    assert (found and found[:2]) == embed


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ("<video src=/a.mp4></video>", ["figure/a: a.mp4"]),
        ("<figure><div><video src=/a.mp4></video></div></figure>", ["div/a: a.mp4"]),
        ("<iframe src='https://ads.example/x'></iframe>", []),
    ],
)
def test_show_embeds(html, links):
    document = tree(html)
    show_embeds(document)
    assert [f"{link.getparent().tag}/a: {link.text}" for link in document.iter("a")] == links
