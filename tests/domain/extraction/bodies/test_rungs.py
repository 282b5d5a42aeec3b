from collections.abc import Callable

import pytest

from feedcrawl.domain.extraction.bodies.rungs import MOST_LINES, Candidate, by_readability, by_trafilatura
from feedcrawl.domain.extraction.page import Page, read_page

STORY = "".join(f"<p>The harbour council has voted for bridge {number} over the old canal.</p>" for number in range(9))


@pytest.mark.parametrize(("lines", "reads"), [(0, True), (MOST_LINES, False)])
def test_a_page_of_very_many_lines_is_not_read_by_trafilatura(lines: int, reads: bool) -> None:
    page = read_page(f"<html><body><article>{STORY}</article>{'<p>(</p>' * lines}</body></html>", "https://d.example/")
    assert (by_trafilatura(page) is not None) is reads


@pytest.mark.parametrize("rung", [by_readability, by_trafilatura])
def test_libraries_do_not_read_dialogs_of_consent_software(rung: Callable[[Page], Candidate | None]) -> None:
    asks = "".join(
        f"<p>We and our {number} partners store information on a device, with consent.</p>" for number in range(40)
    )
    dialog = f"<div id=onetrust-consent-sdk><div>{asks}</div></div>"
    found = rung(read_page(f"<html><body><div>{STORY}</div>{dialog}</body></html>", "https://d.example/"))
    assert found is not None
    assert "harbour council" in found.text
    assert "partners" not in found.text
