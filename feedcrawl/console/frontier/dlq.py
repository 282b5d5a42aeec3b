"""The work of `scrapy dlq`: selects dead letters, and prints, replays or drops them."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, printable, say, write
from feedcrawl.console.stores import on
from feedcrawl.domain.frontier.dead_letters import DeadLetterFilter, age_sec, payload_of
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from feedcrawl.domain.frontier.dead_letters import DeadLetter

ACTIONS = ("list", "show", "replay", "drop")


@on(Wiring)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """One of the actions."""
    if not args or args[0] not in ACTIONS:
        raise UsageError(f"say what to do: {', '.join(ACTIONS)}", print_help=False)
    action, names = args[0], args[1:]
    conditions, limit = _conditions(names, opts, wired.now().timestamp()), _limit(opts.limit)
    if action in ("list", "show"):
        found = wired.dead_letter_service.matching(conditions, limit)
        count = _write_array(found) if opts.json else _write_lines(found, whole=action == "show")
    elif conditions == DeadLetterFilter() and not opts.all:
        raise UsageError(f"say which: a URL, a condition, or --all to {action} every letter", print_help=False)
    elif action == "drop":
        count = wired.dead_letter_service.drop(conditions, limit)
        _write_counts({"dropped": count}, as_json=opts.json)
    else:
        came = wired.dead_letter_service.replay(conditions, limit)
        count = came.replayed
        _write_counts({"replayed": count, "refused": came.refused}, as_json=opts.json)
    if not count and (names or not opts.json):
        say("dlq", f"no dead letter is that of {', '.join(names)}" if names else _none(conditions))
    return UNUSABLE if names and not count else DONE


def _none(conditions: DeadLetterFilter) -> str:
    return "there are no dead letters" if conditions == DeadLetterFilter() else "no dead letter meets these conditions"


def _conditions(names: list[str], opts: Namespace, now: float) -> DeadLetterFilter:
    return DeadLetterFilter(
        reason=opts.reason,
        host=opts.host.lower() if opts.host else None,
        before=now - age_sec(opts.older_than) if opts.older_than else None,
        after=now - age_sec(opts.newer_than) if opts.newer_than else None,
        names=frozenset(names),
    )


def _limit(text: str | None) -> int:
    if text is None:
        return sys.maxsize
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"--limit takes a whole number, not {text!r}", print_help=False)
    return int(text)


def _write_counts(counts: dict[str, int], *, as_json: bool) -> None:
    words = json.dumps(counts) if as_json else ", ".join(f"{count} {name}" for name, count in counts.items())
    sys.stdout.write(f"{words}\n")


def _write_array(found: Iterable[DeadLetter]) -> int:
    """A JSON array, a dead letter per line, written as it is read; an item that is not a JSON object is written
    as text.
    """
    count = 0
    sys.stdout.write("[")
    for count, dead_letter in enumerate(found, 1):
        sys.stdout.write(("" if count == 1 else ",\n") + json.dumps(dead_letter.fields or dead_letter.text))
    sys.stdout.write("]\n")
    return count


def _write_lines(found: Iterable[DeadLetter], *, whole: bool) -> int:
    count = 0
    for dead_letter in found:
        if whole:
            sys.stdout.write(_pretty(dead_letter))
        else:
            write(_line(dead_letter))
        count += 1
    return count


def _line(dead_letter: DeadLetter) -> str:
    at = datetime.fromtimestamp(dead_letter.at, UTC).strftime("%Y-%m-%d %H:%MZ")
    return "  ".join((at, printable(dead_letter.reason).ljust(18), printable(dead_letter.name)))


def _pretty(dead_letter: DeadLetter) -> str:
    """All fields of a dead letter, one per line; its payload as JSON."""
    fields = dict(dead_letter.fields) or {"text": dead_letter.text}
    return json.dumps(fields | ({"payload": payload_of(fields)} if "payload" in fields else {}), indent=2) + "\n"
