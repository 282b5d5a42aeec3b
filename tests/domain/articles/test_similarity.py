import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from documents import paragraphs, prose
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.articles.similarity import (
    MAX_CHARS,
    SKETCH_SIZE,
    Fingerprint,
    Fingerprinted,
    Match,
    Rule,
    decode,
    fingerprint,
    matches,
    near,
    resemblance,
    same,
    title_key,
)

RULE = Rule(similarity=0.9, min_chars=200)
AT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
TEXT = "\n".join(paragraphs("story", count=5))
TITLE = "A new bridge"


def looks(text: str = TEXT, title: str | None = TITLE, *, hours: float | None = 0) -> Fingerprint:
    return fingerprint(title, text, None if hours is None else AT + timedelta(hours=hours))


def edited(changes: int) -> str:
    """The text with so many of its words replaced."""
    chance, found = random.Random(7), TEXT.split(" ")
    for place in chance.sample(range(len(found)), changes):
        found[place] = "replaced"
    return " ".join(found)


@pytest.mark.parametrize(
    ("left", "right", "same_words"),
    [
        ("A new bridge", "a NEW bridge!", True),
        ("A new bridge", "  A new\u200b bridge ", True),
        ("Élection", "E\u0301lection", True),
        ("A new bridge", "A bridge", False),
        (None, "", True),
        ("…", None, True),
    ],
)
def test_titles_are_their_words(left: str | None, right: str | None, same_words: bool) -> None:
    assert (title_key(left) == title_key(right)) is same_words


def test_an_empty_title_has_no_words() -> None:
    assert title_key("…") == 0


@pytest.mark.parametrize(
    ("text", "title", "hours", "reason"),
    [
        (TEXT, TITLE, 0, "near_text"),
        (TEXT, "A NEW bridge", 0, "near_text"),
        (TEXT + "\nRead more about bridges.", TITLE, 0, "near_text"),
        (TEXT + "\nUpdated at 12:30", TITLE, 0, "near_text"),  # figures of its own, none instead of others
        (edited(3), TITLE, 0, "near_text"),
        (TEXT, TITLE, 11, "near_text"),
        (TEXT, TITLE, 12, "near_text"),
        (TEXT, TITLE, None, "near_text"),
        (edited(40), TITLE, 0, "less_alike"),
        ("\n".join(paragraphs("other", count=5)), TITLE, 0, "less_alike"),
        (TEXT + "\n" + "\n".join(paragraphs("more", count=2)), TITLE, 0, "less_alike"),
        (TEXT, TITLE, 24, "other_time"),
        (TEXT, "Another bridge", 0, "other_title"),
        (TEXT, None, 0, "other_title"),
        (TEXT[:200], TITLE, 0, "less_alike"),
        (TEXT[:199], TITLE, 0, "too_short"),
        (TEXT * 20, TITLE, 0, "too_long"),
    ],
)
def test_different_texts_that_are_the_same_story(
    text: str, title: str | None, hours: float | None, reason: str
) -> None:
    assert near(looks(), looks(text, title, hours=hours), RULE)[0] == reason
    assert near(looks(text, title, hours=hours), looks(), RULE)[0] == reason


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("Gold closed at 1930.", "Gold closed at 1942.", "other_numbers"),
        ("12 degrees and rain.", "14 degrees and rain.", "other_numbers"),
        ("Gold closed at 1930.", "Gold closed at 1930 again.", "near_text"),
        ("Gold closed.", "Gold closed on the 3rd.", "near_text"),
    ],
)
def test_texts_with_different_figures_are_different_stories(first: str, second: str, reason: str) -> None:
    assert near(looks(f"{first}\n{TEXT}"), looks(f"{second}\n{TEXT}"), RULE)[0] == reason


def test_articles_without_titles_are_not_compared() -> None:
    assert near(looks(title=None), looks(title=None), RULE) == ("other_title", 0.0)


@pytest.mark.parametrize(
    ("chars", "mine", "theirs", "titles", "reason"),
    [
        (200, TITLE, TITLE, 1, "same_text"),
        (199, TITLE, TITLE, 1, "too_short"),
        (400, TITLE, "Another", 2, "same_text"),
        (399, TITLE, "Another", 2, "other_title"),
        (400, TITLE, "Another", 3, "template"),
        (400, TITLE, TITLE, 9, "same_text"),
        (400, None, None, 1, "same_text"),
    ],
)
def test_equal_texts_that_are_the_same_story(
    chars: int, mine: str | None, theirs: str | None, titles: int, reason: str
) -> None:
    text = TEXT[:chars]
    assert same(looks(text, mine), looks(text, theirs), titles, RULE) == reason


def test_the_first_article_with_the_text_is_the_best_match() -> None:
    mine = looks()
    texts = [Fingerprinted("t1", looks(title="Another")), Fingerprinted("t2", looks())]
    titled = [
        Fingerprinted("n1", looks(edited(40))),
        Fingerprinted("n2", looks(edited(3))),
        Fingerprinted("t2", looks()),
        Fingerprinted("n3", looks(TEXT + ".")),
    ]
    found = matches(mine, texts, titled, RULE)
    assert [(match.uid, match.why) for match in found] == [
        ("t1", "same_text"),
        ("t2", "same_text"),
        ("n2", "near_text"),
        ("n3", "near_text"),
    ]
    assert found[0] == Match("t1", "same_text", 1.0)
    assert 0.9 <= found[2].similarity < found[3].similarity == 1.0


def test_a_text_shared_by_articles_of_different_titles_merges_none() -> None:
    texts = [
        Fingerprinted("a", looks(title="One")),
        Fingerprinted("b", looks(title="Two")),
        Fingerprinted("c", looks(title=TITLE)),
    ]
    assert [match.uid for match in matches(looks(), texts, [], RULE)] == ["c"]
    assert matches(looks(title="Four"), texts, [], RULE) == ()


def test_a_text_too_long_has_no_sketch() -> None:
    assert looks("word " * (MAX_CHARS // 5)).sketch
    assert looks("word " * (MAX_CHARS // 5 + 1)).sketch == ()


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8, 0.9, 0.95, 1.0])
def test_the_estimate_is_near_the_truth(share: float) -> None:
    chance = random.Random(11)
    words = [str(chance.random()) for _ in range(1200)]
    left, right = words[: int(600 * (1 + share) / 2) + 300], words[int(600 * (1 - share)) : 900]
    truth = len({*left} & {*right}) / len({*left} | {*right})
    sketches = [fingerprint(None, " ".join(each), None).sketch for each in (left, right)]
    assert abs(resemblance(*sketches) - truth) < 0.15


def test_empty_sketches_do_not_resemble() -> None:
    assert resemblance((), ()) == 0.0
    assert resemblance((1,), ()) == 0.0


@given(
    title=st.none() | st.text(max_size=20),
    text=st.text(max_size=400),
    published=st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_a_fingerprint_survives_as_text(title: str | None, text: str, published: datetime | None) -> None:
    found = fingerprint(title, text, published)
    assert decode(found.encode()) == found
    assert len(found.sketch) <= SKETCH_SIZE
    assert resemblance(found.sketch, found.sketch) == 1.0


@pytest.mark.parametrize("text", ["", "1:2", "1:2:::AAA", "1:2:::AAAAAAA=", "x:2:::", "1:2:x::", "1:2:::*"])
def test_a_malformed_fingerprint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode(text)


@given(st.lists(st.integers(0, 2**32 - 1)), st.lists(st.integers(0, 2**32 - 1)))
def test_resemblance_is_a_share_and_symmetric(left: list[int], right: list[int]) -> None:
    shared = resemblance(left, right)
    assert 0.0 <= shared <= 1.0
    assert shared == resemblance(right, left)


def test_a_text_of_few_words_has_a_sketch() -> None:
    assert len(replace(looks(prose("short", 3))).sketch) == 1
