import json
from datetime import UTC, datetime

import pytest

from feedcrawl.domain.extraction.ladder import extract
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.extraction.threads.posts import MAX_BYTES, find_posts
from feedcrawl.domain.models import FeedContent

FORUM = "https://forum.d.example/t/fog-signals/12"
FIRST = "Which fog signal do you use on the outer pier, and how long does one last in salt water?"
SECOND = "A horn, for it needs no gas. Ours has been there for nine years and was painted twice."
THIRD = "We took the bell down in spring because nobody could hear it behind the new breakwater."


def posts(html, url=FORUM):
    found = find_posts(read_page(html.ljust(400), url))
    return [(post.text, post.author, post.published and post.published.isoformat()) for post in found]


def ld(value):
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


THREAD = [
    (FIRST, "Ann Lee", "2024-03-02T09:30:00+00:00"),
    (SECOND, "bo_ek", "2024-03-03T10:00:00+00:00"),
    (THIRD, "Cy", None),
]
DISCUSSION = {
    "@type": "DiscussionForumPosting",
    "headline": "Fog signals",
    "text": FIRST,
    "author": {"@type": "Person", "name": "Ann Lee"},
    "datePublished": "2024-03-02T09:30:00Z",
    "comment": [
        {"@type": "Comment", "text": SECOND, "author": [{"name": "bo_ek"}], "datePublished": "2024-03-03T10:00:00Z",
         "comment": {"@type": "Comment", "text": THIRD, "author": "Cy"}},
    ],
}  # fmt: skip
QUESTION = {
    "@type": "QAPage",
    "mainEntity": {
        "@type": "Question",
        "name": "Which fog signal?",
        "text": FIRST,
        "author": {"name": "Ann Lee"},
        "dateCreated": "2024-03-02T09:30:00Z",
        "suggestedAnswer": [{"@type": "Answer", "text": THIRD, "author": {"alternateName": "Cy"}}],
        "acceptedAnswer": {
            "@type": "Answer",
            "text": SECOND,
            "author": {"name": "bo_ek"},
            "datePublished": "2024-03-03T10:00:00Z",
        },
    },
}
MICRODATA = f"""<html itemscope itemtype="https://schema.org/QAPage"><body>
<div itemscope itemtype="https://schema.org/Question">
<h1 itemprop=name>Which fog signal?</h1><div itemprop=text><p>{FIRST}</p></div>
<div itemprop=author itemscope itemtype="https://schema.org/Person"><b itemprop=name>Ann Lee</b></div>
asked <time itemprop=dateCreated datetime="2024-03-02 09:30:00Z">Mar 2</time>
<div itemprop=acceptedAnswer itemscope itemtype="https://schema.org/Answer"><div itemprop=text>{SECOND}</div>
<span itemprop=author itemscope itemtype="https://schema.org/Person"><b itemprop=name>bo_ek</b> <i>12 points</i></span>
<time itemprop=datePublished>2024-03-03T10:00:00.000Z+00:00</time>
<div itemprop=comment itemscope itemtype="https://schema.org/Comment"><span itemprop=text>{THIRD}</span>
<a itemprop=author>Cy</a></div></div></div>"""
DISCOURSE = f"""<div itemscope itemtype="http://schema.org/DiscussionForumPosting">
<meta itemprop=headline content="Fog signals">
<div class="topic-body crawler-post"><span class=creator itemprop=author itemscope itemtype="http://schema.org/Person">
<a itemprop=url href="/u/ann"><span itemprop=name>Ann Lee</span></a></span>
<time datetime="2024-03-02T09:30:00Z" itemprop=datePublished>March 2, 2024, 9:30am</time>
<div class=post itemprop=text><p>{FIRST}</p></div></div>
<div itemprop=comment itemscope itemtype="http://schema.org/Comment" class="topic-body crawler-post">
<span class=creator itemprop=author itemscope itemtype="http://schema.org/Person">
<span itemprop=name>bo_ek</span></span>
<time datetime="2024-03-03T10:00:00Z" itemprop=datePublished>March 3</time>
<div class=post itemprop=text>{SECOND}</div></div>
<div itemprop=comment itemscope itemtype="http://schema.org/Comment"><span itemprop=author>Cy</span>
<div itemprop=text>{THIRD}</div></div></div>"""
ENTRIES = f"""<article class=h-entry><a class="p-author h-card">Ann Lee</a>
<time class=dt-published datetime="2024-03-02T09:30Z">2 March</time>
<div class=e-content>{FIRST}</div><div class="u-comment h-cite"><a class=p-author>bo_ek</a>
<time class=dt-published datetime="2024-03-03T10:00Z"></time><p class=p-content>{SECOND}</p></div>
<div class="u-comment h-cite"><a class=p-author>Cy</a><p class=e-content>{THIRD}</p></div></article>"""


@pytest.mark.parametrize("html", [ld(DISCUSSION), ld(QUESTION), MICRODATA, DISCOURSE, ENTRIES])
def test_stated_posts(html):
    assert posts(html) == THREAD


def test_the_first_post_is_in_json_where_microdata_has_the_replies():
    first = {name: value for name, value in DISCUSSION.items() if name != "comment"}
    reply = f"<b itemprop=author>Cy</b><p itemprop=text>{THIRD}"
    assert posts(f'{ld(first)}<article itemscope itemtype="https://schema.org/Comment">{reply}</article>') == [
        THREAD[0],
        THREAD[2],
    ]


def test_a_thread_without_replies_is_its_first_post():
    assert posts(ld({**DISCUSSION, "comment": []})) == THREAD[:1]


PHPBB = """<div id="p{n}" class="post bg{n}"><div class="postbody"><p class="author">by <a class="username"
href="./memberlist.php?mode=viewprofile&u={n}">{author}</a> » {day}</p><div class="content">{text}</div></div>
<dl class="postprofile"><dt><a href="./memberlist.php?mode=viewprofile&u={n}">{author}</a></dt>
<dd><strong>Posts:</strong> 6217</dd><dd><strong>Joined:</strong> 05 Oct 2011</dd></dl></div>"""
VBULLETIN = """<div><table id="post{n}"><tr><td class="thead">{day}</td></tr><tr><td><a class="bigusername"
href="member.php?u={n}">{author}</a><div>Join Date: 01-12-2009</div></td><td><div id="post_message_{n}">{text}</div>
</td></tr></table></div>"""
XENFORO = """<article class="message js-post" data-author="{author}"><aside class="message-cell--user">
<dl><dt>Joined</dt><dd>Oct 5, 2011</dd></dl></aside><ul><li><time class="u-dt" datetime="{day}">x</time></li></ul>
<div class="message-body"><blockquote data-author="Zoe"><a href="/members/zoe.1/">Zoe said:</a></blockquote>{text}</div>
<div class="message-lastEdit">Last edited: <time datetime="2025-01-01T00:00Z">Jan 1, 2025</time></div></article>"""
REDDIT = """<div class="thing" data-author="{author}"><div class="entry"><p class="tagline"><a class="author"
href="/user/{author}">{author}</a> <time datetime="{day}" title="x">a year ago</time></p><form class="usertext">
<div class="md"><p>{text}</p></div></form></div><div class="child">{inner}</div></div>"""
FLUXBB = """<div id="p{n}" class="blockpost"><h2><a href="viewtopic.php?pid={n}#p{n}">{day}</a></h2><dl><dt>
<strong>{author}</strong></dt><dd><strong>Member</strong></dd><dd>Registered: 2011-10-05</dd></dl>
<div class="postright"><h3>Fog signals</h3><div class="postmsg">{text}</div></div></div>"""
FLARUM = """<article><div class="PostUser"><h3 class="PostUser-name">{author}</h3></div>
<div class="Post-body"><p>{text}</p></div></article>"""
ROWS = """<tr class="head"><td><a href="/user/{author}">{author}</a> wrote on {day}</td></tr>
<tr class="message"><td>{text}</td></tr>"""


def shown(form, *days, around="<div>{}</div>"):
    expected = zip((FIRST, SECOND, THIRD), ("Ann Lee", "bo_ek", "Cy"), days, strict=True)
    inside = (form.format(text=text, author=author, day=day, n=n) for n, (text, author, day) in enumerate(expected))
    return f"<h1>Fog signals</h1>{around.format(''.join(inside))}"


DAYS = ("2024-03-02", "2024-03-03", "2024-03-04")
BOX = """<div class="post"><p><a class="username" itemprop="author">{author}</a> <time datetime="{day}">x</time></p>
<div class="content" itemprop="text">{text}</div></div>"""
COMMENT = BOX.replace("<div class=", '<div itemscope itemtype="https://schema.org/Comment" class=', 1)


@pytest.mark.parametrize(
    "html",
    [
        shown(BOX, *DAYS) + ld({**DISCUSSION, "comment": [{"@type": "Comment", "text": SECOND, "author": "bo_ek"}]}),
        shown(COMMENT, *DAYS).replace(' itemscope itemtype="https://schema.org/Comment"', "", 1),
        shown(COMMENT, *DAYS).replace(' itemscope itemtype="https://schema.org/Comment"', "", 1)
        + '<div itemscope itemtype="https://schema.org/Question"><meta itemprop="text" content="Which …"></div>',
    ],
)
def test_a_statement_with_a_part_of_the_posts_yields_to_those_that_are_shown(html):
    assert [text for text, *_ in posts(html)] == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(
    ("html", "days"),
    [
        (
            shown(PHPBB, "Sat Mar 02, 2024 9:30 am", "Sun Mar 03, 2024 10:00 am", "Yesterday"),
            ["2024-03-02T00:00:00+00:00", "2024-03-03T00:00:00+00:00", None],
        ),
        (
            shown(VBULLETIN, "03-02-2024, 09:30 AM", "03-13-2024, 10:00 AM", "Today, 10:12 AM"),
            ["2024-03-02T09:30:00+00:00", "2024-03-13T10:00:00+00:00", None],
        ),
        (
            shown(VBULLETIN, "03-02-2024, 09:30 AM", "04-03-2024, 10:00 AM", "Today, 10:12 AM"),
            [None, None, None],
        ),
        (
            shown(XENFORO, "2024-03-02T09:30:00+0100", "2024-03-03T10:00:00+0100", ""),
            ["2024-03-02T08:30:00+00:00", "2024-03-03T09:00:00+00:00", None],
        ),
        (
            shown(FLUXBB, "2024-03-02 09:30:00", "2024-03-03 10:00:00", "Yesterday 10:00:00"),
            ["2024-03-02T09:30:00+00:00", "2024-03-03T10:00:00+00:00", None],
        ),
        (shown(FLARUM, "", "", ""), [None, None, None]),
        (
            shown(ROWS, "2 March 2024", "3 March 2024", "4 March 2024", around="<table>{}</table>"),
            ["2024-03-02T00:00:00+00:00", "2024-03-03T00:00:00+00:00", "2024-03-04T00:00:00+00:00"],
        ),
    ],
)
def test_shown_posts_are_read_with_author_and_day(html, days):
    found = posts(html)
    assert [author for _, author, _ in found] == ["Ann Lee", "bo_ek", "Cy"]
    assert [text.rpartition("\n")[2] for text, *_ in found] == [FIRST, SECOND, THIRD]
    assert [day for *_, day in found] == days


def test_replies_within_posts_are_posts_of_their_own():
    inner = REDDIT.format(text=SECOND, author="bo_ek", day="2024-03-03T10:00Z", inner="")
    html = REDDIT.format(text=FIRST, author="Ann", day="2024-03-02T09:30Z", inner=inner)
    side = f'<div class="side"><div class="md">{THIRD} <a href="/user/mod">mod</a></div></div>'
    assert posts(side + html, "https://d.example/r/ports/comments/1ab/fog/") == [
        (FIRST, "Ann", "2024-03-02T09:30:00+00:00"),
        (SECOND, "bo_ek", "2024-03-03T10:00:00+00:00"),
    ]


COMMENTS = "".join(
    f'<li class=comment><b class=author>{name}</b><time datetime="2024-03-02"></time><p class=text>{text}</p></li>'
    for name, text in (("Ann Lee", FIRST), ("Cy", SECOND))
)
STORY = "".join(f"<p>Sentence number {n} of the story is long enough to be taken for prose.</p>" for n in range(40))
PLAIN = "".join(f"<div class=part><p>{text}</p></div>" for text in (FIRST, SECOND, THIRD))
INDEX = "".join(
    f"<div class=topic><a href=/t/{n}>Topic {text}</a> by <a class=username>ann</a></div>"
    for n, text in enumerate((FIRST, SECOND, THIRD))
)


@pytest.mark.parametrize(
    ("html", "url"),
    [
        (f"<article><h1>Ports</h1>{STORY}</article><ul>{COMMENTS}</ul>", "https://d.example/2024/ports"),
        (PLAIN, FORUM),
        (INDEX, FORUM),
        ("<p>Nothing</p>", FORUM),
    ],
)
def test_comments_sections_and_lists_of_threads_are_no_posts(html, url):
    assert posts(html, url) == []


@pytest.mark.parametrize(("count", "length", "left"), [(120, 10, 100), (30, MAX_BYTES // 8, 8), (3, MAX_BYTES + 1, 0)])
def test_posts_are_bounded(count, length, left):
    comments = [{"@type": "Comment", "text": "a" * length, "author": "Cy"}] * (count - 1)
    first = {"@type": "DiscussionForumPosting", "text": "a" * length, "comment": comments}
    assert len(posts(ld(first))) == left


def test_the_extraction_has_the_posts():
    extraction = extract(shown(PHPBB, "2 March 2024", "3 March 2024", "4 March 2024"), url=FORUM)
    assert extraction.page_kind == "forum"
    assert [(post.author, post.published) for post in extraction.posts] == [
        ("Ann Lee", datetime(2024, 3, 2, tzinfo=UTC)),
        ("bo_ek", datetime(2024, 3, 3, tzinfo=UTC)),
        ("Cy", datetime(2024, 3, 4, tzinfo=UTC)),
    ]


@pytest.mark.parametrize(
    ("feed", "authors", "day"),
    [
        (None, ("Ann Lee",), 2),
        (FeedContent(authors=("A. Lee",)), ("A. Lee",), 2),
        (FeedContent(published=datetime(2024, 3, 1, tzinfo=UTC)), ("Ann Lee",), 1),
    ],
)
def test_a_thread_is_signed_by_its_first_post_unless_the_feed_says_otherwise(feed, authors, day):
    html = shown(PHPBB, "2 March 2024", "3 March 2024", "4 March 2024", around="<p>by The Keeper, 9 March 2024</p>{}")
    extraction = extract(html, url=FORUM, feed=feed)
    assert extraction.authors == authors
    assert extraction.published == datetime(2024, 3, day, tzinfo=UTC)
