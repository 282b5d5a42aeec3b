import pytest

from feedcrawl.domain.extraction.bodies.rungs import MOST_LINES, by_trafilatura
from feedcrawl.domain.extraction.page import read_page

STORY = "".join(f"<p>The harbour council has voted for bridge {number} over the old canal.</p>" for number in range(9))


@pytest.mark.parametrize(("lines", "reads"), [(0, True), (MOST_LINES, False)])
def test_a_page_of_very_many_lines_is_not_read_by_trafilatura(lines: int, reads: bool) -> None:
    page = read_page(f"<html><body><article>{STORY}</article>{'<p>(</p>' * lines}</body></html>", "https://d.example/")
    assert (by_trafilatura(page) is not None) is reads
