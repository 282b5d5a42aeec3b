"""Finishing touches on an article's body: the repeated headline, calls, lines that a second source does not have."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lxml.html import Element

from feedcrawl.domain.extraction.bodies.weights import HEADINGS, INLINE, in_names, names
from feedcrawl.domain.extraction.calls import is_call, is_notice
from feedcrawl.domain.markup import drop, drop_all
from feedcrawl.domain.text import BLOCKS, canonical_text, fold, raw_text, squeezed, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

Grams = Counter[tuple[str, ...]]
Lines = list[tuple["HtmlElement", str]]
"""Lines of an article, each with its text as written."""

_WHOLE = frozenset({"dl", "figure", "ol", "p", "pre", "table", "tbody", "tfoot", "thead", "tr", "ul"})
"""Elements whose content model has no paragraphs, or in which white space counts."""
_GRAM = 4
_QUOTE_NAMES = re.compile(r"(?<!to)(?<!to-)quot(?:e|ation)|zitat|citation|citazione|citat?(?![a-z])", re.IGNORECASE)
_is_quoting = in_names(_QUOTE_NAMES, "quot", "zitat", "cita")
_PULLED, _REPEATED = 100, 0.6
_DOUBLED = frozenset({"p", "li", "div", "section", "h2", "h3", "h4"})
_DOUBLE_LENGTH, _DOUBLED_SHARE, _FEWEST_DOUBLES = 60, 0.3, 4
_ANNOUNCEMENT, _MOST_ANNOUNCEMENTS, _COLONS = 120, 2, (":", "\uff1a")
_SHOWN = ("img", "picture", "figure", "video", "audio", "iframe", "object", "embed", "table", "math")
_CALL_LENGTH, _NOTICE_LENGTH, _HEADLINE = 350, 500, 15
_WITNESS_COVERED, _BODY_COVERED, _LINE_SEEN = 0.85, 0.7, 0.4


def drop_lines(root: HtmlElement) -> None:
    """Remove repeated paragraphs, notices, and lines that ask the reader to follow, to subscribe or to read on."""
    frame_runs(root)
    written = _with_text(root)
    _drop_calls(root, _with_text(root) if _drop_doubles(root, written) else written)


def _with_text(root: HtmlElement) -> Lines:
    return [(line, raw_text(line)) for line in lines(root)]


def _drop_calls(root: HtmlElement, written: Lines) -> None:
    """Remove the short lines that speak for the publisher."""
    short = [
        (line, text)
        for line, raw in written
        if len(raw) < 2 * _NOTICE_LENGTH and len(text := fold(raw)) < _NOTICE_LENGTH
    ]
    drop_all(root, [line for line, text in short if _is_publishers_line(line, text)])


def _is_publishers_line(line: HtmlElement, text: str) -> bool:
    """True for a notice, and for a line that asks the reader to follow, to subscribe, or to read something else."""
    small = text.lower()
    return is_notice(text, small) or (len(text) < _CALL_LENGTH and _is_set_off(line, text) and is_call(text, small))


def _drop_doubles(root: HtmlElement, written: Lines) -> bool:
    """Remove the paragraphs that are on the page a second time, if these are a good part of it; True if they are.

    Layouts for small screens repeat whole articles; a few repeated lines are the author's.
    """
    seen: set[tuple[bool, str]] = set()
    doubles: dict[HtmlElement, str] = {}
    total = doubled = 0
    for line, raw in written:
        text = raw.strip()
        total += len(text)
        known = line.tag == "li", text  # a list may sum up in the words of the story
        if len(text) >= _DOUBLE_LENGTH and known in seen and line.tag in _DOUBLED:
            doubles[line] = text
            doubled += len(text)
        seen.add(known)
    if doubled <= _DOUBLED_SHARE * total or len(set(doubles.values())) < _FEWEST_DOUBLES:
        return False
    drop_all(root, doubles)
    return True


def drop_repeats(root: HtmlElement, longest: float = _PULLED) -> None:
    """Remove quotations of fewer than `longest` runs of words that repeat the text around them, and no other quotation:
    they are set large for the eye, or quote another post of the thread.
    """
    boxes = [box for box in root.iterdescendants(*BLOCKS) if _is_quotation(box)]
    inner = set(boxes)
    quoted = {box: grams(canonical_text(box)) for box in boxes if inner.isdisjoint(box.iterancestors())}
    pulled = {box: runs for box, runs in quoted.items() if _GRAM < runs.total() < longest}
    own = grams(canonical_text(root)) if pulled else Counter()
    for each in quoted.values() if pulled else ():
        own.subtract(each)
    drop_all(root, [box for box, runs in pulled.items() if (runs & own).total() > _REPEATED * runs.total()])


def _is_quotation(box: HtmlElement) -> bool:
    return box.tag == "blockquote" or _is_quoting(names(box))


def _is_set_off(line: HtmlElement, text: str) -> bool:
    """True if a line consists of emphasis or has a link: the publisher's line, not the story's."""
    if not len(line):
        return False
    if next(line.iter("a"), None) is not None:
        return True
    marked = sum(len(canonical_text(part)) for part in line if part.tag in {"em", "i", "strong", "b", "mark", "small"})
    return marked > 0.8 * len(text)


def drop_headline(root: HtmlElement, titles: Iterable[str | None]) -> None:
    """Remove the heading that repeats the article's title."""
    known = {squeezed(title) for title in titles if title}
    for heading in root.iter("h1", "h2"):
        text = squeezed(raw_text(heading))
        # The name of the site may follow in a page's title.
        if heading is not root and any(
            title == text or (len(text) >= _HEADLINE and title.startswith(text)) for title in known
        ):
            drop(heading)
            return


def drop_announcements(root: HtmlElement) -> None:
    """Remove the last headings and lines with a colon, if nothing follows: what they announce was removed before."""
    dropped = 0
    for line in reversed(lines(root)[1:]):
        text = fold(raw_text(line))
        if text or next(line.iter(*_SHOWN), None) is not None:
            if dropped == _MOST_ANNOUNCEMENTS or not _is_announcement(line, text, root):
                return
            drop(line)
            dropped += 1


def _is_announcement(line: HtmlElement, text: str, root: HtmlElement) -> bool:
    """True for a short heading or line with a colon behind which the root has neither words nor pictures."""
    if not 0 < len(text) < _ANNOUNCEMENT or not (line.tag in HEADINGS or text.endswith(_COLONS)):
        return False
    *_, last = root.iter(line.tag, *_SHOWN)
    return last is line and fold(raw_text(root)).endswith(text)


def corroborate(root: HtmlElement, witness: str) -> bool:
    """Remove the lines that the witness, another version of the body, does not have; True if it could be used.

    The witness is used only if the two agree on the whole: most of each is in the other. Short lines and the first line
    stay.
    """
    theirs = grams(witness)
    ours = grams(canonical_text(root))
    common = (theirs & ours).total()
    if not common or common < _WITNESS_COVERED * theirs.total() or common < _BODY_COVERED * ours.total():
        return False
    kept = False
    unseen: list[HtmlElement] = []
    for line in reversed(lines(root)[1:]):
        runs = grams(canonical_text(line))
        if line.tag in HEADINGS and kept:
            continue
        kept = runs.total() < _GRAM or (runs & theirs).total() >= _LINE_SEEN * runs.total()
        if not kept:
            unseen.append(line)
    drop_all(root, reversed(unseen))
    return True


def grams(text: str) -> Grams:
    """The multiset of runs of four words; a shorter text is one run."""
    found = words(text)
    return (
        Counter(tuple(found[at : at + _GRAM]) for at in range(max(1, len(found) - _GRAM + 1))) if found else Counter()
    )


def agreement(left: Grams, right: Grams) -> float:
    """The similarity of two texts: F1 of their runs of words, 0 … 1."""
    size = left.total() + right.total()
    return 2 * (left & right).total() / size if size else 0.0


def lines(root: HtmlElement) -> list[HtmlElement]:
    """Blocks that contain no blocks, and headings."""
    holders: set[HtmlElement] = set()
    elements = list(root.iterdescendants())
    for element in elements:
        if element.tag in BLOCKS:
            kin = element.getparent()
            while kin is not None and kin not in holders:
                holders.add(kin)
                kin = kin.getparent()
    outside = (element for element in elements if element.tag not in INLINE and isinstance(element.tag, str))
    return [element for element in outside if element not in holders or element.tag in HEADINGS]


def frame_runs(root: HtmlElement) -> None:
    """Put each run of text and inline elements that stands beside a block into a paragraph."""
    holders: set[HtmlElement] = set()
    for block in root.iterdescendants(*BLOCKS):
        for kin in block.iterancestors():
            if kin in holders:
                break
            holders.add(kin)
            if kin is root:
                break
    for holder in holders:
        if holder.tag not in _WHOLE and isinstance(holder.tag, str) and _has_loose(holder, holders):
            _frame(holder, holders)


def _has_loose(holder: HtmlElement, holders: set[HtmlElement]) -> bool:
    """True if an element has text or inline elements beside its blocks."""
    if holder.text and not holder.text.isspace():
        return True
    for child in holder:
        if (child.tail and not child.tail.isspace()) or not (child.tag in BLOCKS or child in holders):
            return True
    return False


def _frame(holder: HtmlElement, holders: set[HtmlElement]) -> None:
    run = Element("p")
    run.text, holder.text = holder.text, None
    for child in list(holder):
        if child.tag in BLOCKS or child in holders:
            for part in _framed(run):
                child.addprevious(part)
            run = Element("p")
            run.text, child.tail = child.tail, None
        else:
            run.append(child)
    holder.extend(_framed(run))


def _framed(run: HtmlElement) -> list[HtmlElement]:
    """The paragraph of a run; if the run has no words, what is in the paragraph: pictures, line breaks."""
    return [run] if any(not text.isspace() for text in run.itertext(with_tail=True)) else list(run)
