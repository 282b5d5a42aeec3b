"""Rules of an operator that keep or drop the entries of a feed, by title, author, category or URL."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from feedcrawl.domain.models import ParsedEntry, ParsedFeed

MAX_RULES: Final = 50
MAX_RULE_CHARS: Final = 500

_FIELDS: Final[dict[str, Callable[[ParsedEntry], tuple[str | None, ...]]]] = {
    "title": lambda entry: (entry.title,),
    "author": lambda entry: tuple(author.name for author in entry.authors),
    "category": lambda entry: entry.categories,
    "url": lambda entry: (entry.link,),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the field of an entry, and the pattern that one of its values must contain."""

    field: str
    pattern: re.Pattern[str]

    def matches(self, entry: ParsedEntry) -> bool:
        """True if a value of the field contains the pattern."""
        return any(self.pattern.search(value) for value in _FIELDS[self.field](entry) if value)


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules in a text, one `FIELD=PATTERN` on each line; raises Refusal (`bad_rule`).

    FIELD is title, author, category or url; PATTERN is a regular expression, searched without regard to case.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_RULES:
        raise Refusal("bad_rule", f"{len(lines)} rules; a feed may have at most {MAX_RULES} of a kind")
    return tuple(map(_rule, lines))


def selected(feed: ParsedFeed, keep: str, drop: str) -> ParsedFeed:
    """The feed without the entries that a rule of `drop` matches, or that no rule of `keep` matches, if there is any.

    The note `entries_dropped` says that entries were left out.
    """
    kept = tuple(_selected(feed.entries, read_rules(keep), read_rules(drop)))
    if len(kept) == len(feed.entries):
        return feed
    return replace(feed, entries=kept, notes=(*feed.notes, "entries_dropped"))


def _selected(
    entries: tuple[ParsedEntry, ...], keep: tuple[Rule, ...], drop: tuple[Rule, ...]
) -> Iterator[ParsedEntry]:
    for entry in entries:
        is_kept = not keep or any(rule.matches(entry) for rule in keep)
        if is_kept and not any(rule.matches(entry) for rule in drop):
            yield entry


def _rule(line: str) -> Rule:
    name, mark, pattern = line.partition("=")
    name = name.strip().lower()
    if not mark or name not in _FIELDS or not pattern.strip() or len(line) > MAX_RULE_CHARS:
        raise Refusal("bad_rule", f"{line[:80]!r} is no rule: FIELD=PATTERN, with one of {', '.join(_FIELDS)}")
    try:
        return Rule(name, re.compile(pattern.strip(), re.IGNORECASE))
    except (re.error, RecursionError, OverflowError) as error:
        raise Refusal("bad_rule", f"{pattern[:80]!r} is no regular expression: {error}") from error
