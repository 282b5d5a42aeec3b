"""Candidates for the body of an article: what each rung of the ladder found, with its text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.polish import Grams, grams
from feedcrawl.domain.text import canonical_text, text_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement


@dataclass(frozen=True)
class Candidate:
    """A body that one rung found: the rung's name, the markup, the canonical text, the share of links in the text, and
    whether captions are part of the text.
    """

    rung: str
    body: HtmlElement
    text: str
    density: float = 0.0
    captions: bool = True

    @property
    def is_area(self) -> bool:
        """True for the main area of a page, all of it."""
        return self.rung == "area"

    @cached_property
    def grams(self) -> Grams:
        """The runs of words in its text."""
        return grams(self.text)


def candidate_of(rung: str, body: HtmlElement, *, captions: bool = True) -> Candidate | None:
    """The candidate of a body; None if the body has no text."""
    text = canonical_text(body, captions=captions)
    if not text:
        return None
    return Candidate(rung, body, text, density(body, text), captions)


def read_again(candidate: Candidate) -> Candidate:
    """The candidate with the text that its body has now; the candidate itself if nothing is left."""
    return candidate_of(candidate.rung, candidate.body, captions=candidate.captions) or candidate


def density(body: HtmlElement, text: str) -> float:
    """The share of a text that is links, 0 … 1."""
    return min(1.0, sum(len(text_of(link)) for link in body.iter("a")) / len(text))
