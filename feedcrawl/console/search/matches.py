"""The work of `scrapy search`: prints the best matches."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, FAILED, printable, say, write_folded
from feedcrawl.console.stores import on
from feedcrawl.domain.search.documents import Filters
from feedcrawl.services.search.searching import MAX_OFFSET, highlights_of
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from feedcrawl.domain.search.highlights import Piece
    from feedcrawl.services.search.searching import Hit

BOLD: Final = ("\x1b[1m", "\x1b[0m")


@on(Wiring)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """Prints the matches; their number decides the exit status."""
    if not args:
        raise UsageError("name the words to look for", print_help=False)
    if not 1 <= opts.limit <= MAX_OFFSET:
        raise UsageError(f"--limit is from 1 to {MAX_OFFSET}, not {opts.limit}", print_help=False)
    filters = Filters(_since(opts.since), opts.category, opts.source, language=opts.language)
    hits = wired.search.find(" ".join(args), filters, limit=opts.limit).hits
    for hit in hits:
        if opts.format == "json":
            sys.stdout.write(f"{_json(hit)}\n")
        else:
            for line in _text(hit):
                write_folded(line, sys.stdout)
    if not hits and opts.format != "json":
        say("search", "no article matches")
    return DONE if hits else FAILED


def _since(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        detail = f"--since takes a day such as 2026-11-28 or a time such as 2026-11-28T12:00Z, not {text!r}"
        raise UsageError(detail, print_help=False) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _json(hit: Hit) -> str:
    return json.dumps({**hit.document, "highlights": highlights_of(hit)}, ensure_ascii=False, separators=(",", ":"))


def _text(hit: Hit) -> list[str]:
    """Title, day and URL, passage, each on a line, and an empty line; on a terminal the words found are bold."""
    day = (hit.document["published"] or hit.document["fetched_at"])[:10]
    title = _shown(hit.title) or "(no title)"
    return [title, f"  {day}  {printable(hit.document['canonical_url'])}", f"  {_shown(hit.passage)}", ""]


def _shown(pieces: Iterable[Piece]) -> str:
    first, last = BOLD if sys.stdout.isatty() else ("", "")
    return "".join(f"{first}{printable(each.text)}{last}" if each.found else printable(each.text) for each in pieces)
