import pytest

from feedcrawl.domain.extraction.bodies.rungs import by_markup
from feedcrawl.domain.extraction.bodies.soundness import is_confirmed, is_part_of, words_in
from feedcrawl.domain.extraction.page import read_page

SENTENCES = [f"<p>Sentence number {n} tells what happened in the harbour on day {n * n}.</p>" for n in range(20)]
PAGE = f"<html><body><nav>Menu</nav><main>{''.join(SENTENCES[:10])}</main></body></html>"


def found(first, last):
    return by_markup("prose", "".join(SENTENCES[first:last]))


@pytest.mark.parametrize(
    ("prose", "other", "confirmed"),
    [
        (found(0, 10), None, True),
        (found(0, 7), found(10, 11), True),
        (found(0, 3), None, False),
        (found(10, 20), None, False),
        (found(0, 10), found(5, 18), False),
    ],
)
def test_the_main_area_confirms_a_shared_text_unless_another_text_is_longer(prose, other, confirmed):
    assert is_confirmed(read_page(PAGE, "https://d.example/x"), prose, other) is confirmed


@pytest.mark.parametrize(
    ("part", "whole", "is_part"),
    [(found(2, 5), found(0, 10), True), (found(0, 10), found(0, 10), False), (found(8, 14), found(0, 10), False)],
)
def test_a_part_is_within_a_longer_text(part, whole, is_part):
    assert is_part_of(part, whole) is is_part


def test_no_candidate_has_no_words():
    assert (words_in(None), words_in(by_markup("prose", "<p>Two words</p>"))) == (0, 2)
