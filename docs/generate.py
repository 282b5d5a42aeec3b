"""Writes the generated parts of the documentation anew: `python docs/generate.py`. A test holds them equal.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

from feedcrawl.config import own_settings
from feedcrawl.domain.operations.settings import rows

DOCS = Path(__file__).parent


def with_tables(page: str, name: str, tables: str) -> str:
    """The page with the generated part `name` replaced by `tables`."""
    found = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    return found.sub(lambda match: f"{match[1]}{tables}{match[2]}", page)


def generate() -> None:
    """Writes every generated part."""
    page = DOCS / "settings.md"
    page.write_text(with_tables(page.read_text("utf-8"), "settings", rows(own_settings)), "utf-8")


if __name__ == "__main__":
    generate()
