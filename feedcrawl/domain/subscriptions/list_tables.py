"""Lists of feeds as tables: CSV with a header (RFC 4180), and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.subscriptions.listed import ListedFeed, categories_of, letters, overrides_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

COLUMNS: Final = (
    "url", "title", "categories", "site_url", "priority", "min_interval_sec", "max_interval_sec",
    "initial_interval_sec", "fixed_interval_sec", "backfill", "push_only", "no_discovery", "paused", "entries_only",
    "user_agent", "keep_rules", "drop_rules",
)  # fmt: skip

_URL: Final = ("url", "xmlurl", "feedurl", "feed", "link")
_TITLE: Final = ("title", "name", "text")
_CATEGORIES: Final = ("categories", "category", "folder", "folders", "tags")
_SITE: Final = ("siteurl", "htmlurl", "site", "website")
# Spreadsheets run such cells as formulas (OWASP, "CSV Injection"), and titles come from the web.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"''*[=+\-@\t\r]")


def csv_delimiter(text: str) -> str | None:
    """The delimiter of a table whose first line names a URL column; None if the text is no such table."""
    header = text.lstrip().partition("\n")[0][:10_000]
    if "://" in header:
        return None
    for delimiter in ",;\t":
        if any(letters(cell) in _URL for cell in header.split(delimiter)):
            return delimiter
    return None


def read_csv(text: str, delimiter: str) -> Iterator[ListedFeed]:
    """One feed for each row; columns in any order, unknown columns are ignored. Raises Refusal for broken CSV."""
    rows = csv.reader(io.StringIO(text.lstrip(), newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        names = [letters(name) for name in next(rows)]
        for row in rows:
            cells = {name: _unguarded(cell.strip()) for name, cell in zip(names, row, strict=False) if cell.strip()}
            yield from _feed(cells)
    except csv.Error as error:
        raise Refusal("not_a_list", f"the CSV is malformed: {error}") from None


def read_json(text: str) -> Iterator[ListedFeed]:
    """The feeds of a JSON array of URLs or of objects with a URL, or of an object with such an array as `feeds`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal("not_a_list", f"the text begins like JSON but is not valid JSON: {text[:60]!r}") from None
    listed = found.get("feeds") if isinstance(found, dict) else found
    if not isinstance(listed, list):
        raise Refusal(
            "not_a_list", "expected JSON with a list of feeds: an array, or an object with that array as `feeds`"
        )
    for item in listed:
        if isinstance(item, str):
            yield from _feed({"url": item})
        elif isinstance(item, dict):
            yield from _feed({letters(str(name)): value for name, value in item.items()})


def write_csv(feeds: Iterable[ListedFeed]) -> bytes:
    """A table that spreadsheets can open and `read_csv` can read."""
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    for feed in feeds:
        record = _record(feed)
        record["categories"] = _joined(feed.categories)
        rows.writerow([_guarded(record.get(name, "")) for name in COLUMNS])
    return out.getvalue().encode("utf-8", "replace")


def write_json(feeds: Iterable[ListedFeed]) -> bytes:
    """An array of objects, one object on each line."""
    lines = [json.dumps(_record(feed), ensure_ascii=False) for feed in feeds]
    return ("[" + ",\n".join(lines) + "]\n").encode("utf-8", "replace")


def _record(feed: ListedFeed) -> dict[str, object]:
    own: dict[str, object] = {
        "url": feed.url,
        "title": feed.title,
        "categories": list(feed.categories),
        "site_url": feed.site_url,
    }
    return {name: value for name, value in (own | feed.overrides.given()).items() if value}


def _feed(values: Mapping[str, object]) -> Iterator[ListedFeed]:
    url = _first(values, _URL)
    if url:
        categories = next((values[name] for name in _CATEGORIES if values.get(name)), ())
        names = _parted(categories) if isinstance(categories, str) else categories
        listed = categories_of(map(str, names)) if isinstance(names, (list, tuple)) else ()
        yield ListedFeed(url, listed, _first(values, _TITLE), _first(values, _SITE), overrides_of(values))


def _joined(names: Iterable[str]) -> str:
    """Names in one cell, separated by commas; a name that has a comma is quoted (RFC 4180)."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def _parted(names: str) -> list[str]:
    try:
        return [name for row in csv.reader([names.replace("\n", " ")], skipinitialspace=True) for name in row]
    except csv.Error:
        return names.split(",")


def _first(values: Mapping[str, object], names: Iterable[str]) -> str | None:
    return next((text for name in names if (text := str(values.get(name) or "").strip())), None)


def _guarded(value: object) -> str:
    text = str(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _unguarded(text: str) -> str:
    return text[1:] if _GUARDED.match(text) else text
