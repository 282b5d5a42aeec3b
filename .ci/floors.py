"""Holds measured scores to their floors: `floors.py FIGURES.json`; `floors.py --raise FIGURES.json` lifts the floors.

`floors.json` beside this file is {suite: {row: least score}}. Floors only rise: `--raise` never lowers one, and a row
that is not in the table is not judged.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TABLE = Path(__file__).with_name("floors.json")
# Figures that vary between machines (time limits) do not fail a run by a hair.
MARGIN = 0.002

Scores = dict[str, dict[str, float]]


def scores_of(figures: Path) -> Scores:
    """{suite: {row: score}} of what score.py wrote for feedcrawl."""
    suites = json.loads(figures.read_text(encoding="utf-8"))
    return {
        suite: {row: figure["score"] for row, figure in tables.get("feedcrawl", {}).items()}
        for suite, tables in suites.items()
    }


def sunken(floors: Scores, scores: Scores) -> list[str]:
    """One line for each row whose score is below its floor, or missing."""
    return [
        f"{suite}: {row}: {scores[suite].get(row, 0.0):.4f} is below its floor {floor:.4f}"
        for suite in floors.keys() & scores.keys()
        for row, floor in floors[suite].items()
        if scores[suite].get(row, 0.0) < floor
    ]


def raised(floors: Scores, scores: Scores) -> Scores:
    """The floors lifted to the scores less the margin; those that are higher stay."""
    lifted = {suite: dict(rows) for suite, rows in floors.items()}
    for suite, rows in scores.items():
        for row, score in rows.items():
            own = lifted.setdefault(suite, {})
            own[row] = max(own.get(row, 0.0), round(max(score - MARGIN, 0.0), 4))
    return lifted


def main(arguments: list[str]) -> int:
    """Exit status 1 where a score is below its floor."""
    floors = json.loads(TABLE.read_text(encoding="utf-8"))
    scores = scores_of(Path(arguments[-1]))
    if "--raise" in arguments:
        TABLE.write_text(json.dumps(raised(floors, scores), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return 0
    found = sunken(floors, scores)
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
