"""Statistics over the last polls of a feed, computed from its journal."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.operations.counters import GOOD_POLLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from feedcrawl.domain.subscriptions.published import JournalLineRecord

_NO_POLLS: Final = frozenset({"push", "moved", "archives_read", "gap_filled", "migration_undone", "skipped"})
"""Results of journal lines that are not polls."""


def statistics_of(journal: Iterable[JournalLineRecord]) -> dict[str, object]:
    """Counts and shares over the polls in the journal; a share is null if there are no polls.

    `retry_count`: polls that follow a failed poll. `bytes_in`: bytes of the bodies as received (decoded bytes in lines
    of earlier versions). `compression_ratio`: decoded bytes per received byte, null without a body.
    `average_latency_sec`: mean over the polls with a duration.
    """
    polls = [line for line in journal if line.get("result") not in _NO_POLLS]
    results = Counter(str(line.get("result")) for line in polls)
    good = sum(results[result] for result in GOOD_POLLS)
    took = [float(line["duration_sec"]) for line in polls if line.get("duration_sec")]
    return {
        "fetch_count": len(polls),
        "success_rate": _share(good, len(polls)),
        "not_modified_rate": _share(results["not_modified"], len(polls)),
        "error_code_counts": {code: number for code, number in sorted(results.items()) if code not in GOOD_POLLS},
        "retry_count": sum(earlier.get("result") not in GOOD_POLLS for _, earlier in pairwise(polls)),
        "bytes_in": sum(int(line.get("wire_bytes", line.get("bytes", 0))) for line in polls),
        "compression_ratio": _ratio(polls),
        "average_latency_sec": round(sum(took) / len(took), 3) if took else None,
        "new_entries": [int(line.get("new", 0)) for line in polls],
    }


def _ratio(polls: Iterable[JournalLineRecord]) -> float | None:
    """Decoded bytes per received byte, over the bodies of which both are known."""
    sizes = [(int(line["bytes"]), int(line["wire_bytes"])) for line in polls if line.keys() >= {"bytes", "wire_bytes"}]
    decoded, received = sum(size for size, _ in sizes), sum(size for _, size in sizes)
    return round(decoded / received, 2) if received else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
