import pytest

from feedcrawl.domain.search.words import phrase, spaced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plain text, as it is", "Plain text, as it is"),
        ("Café", "Cafe"),
        ("Ἑλληνικά τέλος", "Ελληνικα τελο\u03c3"),
        ("ёлка мой", "елка мой"),
        ("がか", "がか か"),
        ("東京", "東京 京"),
        ("東京都に行く", "東京 京都 都に に行 行く く"),
        ("水", "水"),
        ("iPhone15の発売", "iPhone15 の発 発売 売"),
        ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย ย"),
        ("서울에서", "서울 울에 에서 서"),
        ("ｶﾌｪ \uff21\uff22\uff23", "カフ フェ ェ ABC"),
        ("ﬁn", "fin"),
        ("a\0b", "a b"),
        ("é\0\ud800b", "e ?b"),
        ("", ""),
    ],
)
def test_words_of_a_text(text: str, words: str) -> None:
    assert " ".join(spaced(text).split()) == words


@pytest.mark.parametrize(
    ("term", "words", "is_prefix"),
    [
        ("plain", "plain", False),
        ("東京", "東京", False),
        ("東京都", "東京 京都", False),
        ("水", "水", True),
        ("iPhone15の", "iPhone15 の", True),
        ("東京 大阪", "東京 京 大阪", False),
        ("発売iPhone", "発売 売 iPhone", False),
    ],
)
def test_a_term_is_a_phrase_of_the_texts_words(term: str, words: str, is_prefix: bool) -> None:
    found, prefix = phrase(term)
    assert (" ".join(found.split()), prefix) == (words, is_prefix)
