"""The content of a list of feeds, independent of its format."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.feeds.selection import read_rules
from feedcrawl.domain.frontier.tasks import MAX_CATEGORY
from feedcrawl.domain.operations.settings import SWITCHES
from feedcrawl.domain.subscriptions.records import Overrides

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_CATEGORIES: Final = 20

_BRACES: Final = str.maketrans("{}", "()")
MAX_AGENT: Final = 300

_AGENT: Final = re.compile(rf"[\x21-\x7e][\x20-\x7e]{{0,{MAX_AGENT - 1}}}")


@dataclass(frozen=True, slots=True)
class ListedFeed:
    """A feed of a list: its URL as written, its categories in the list, its title, its site, its overrides."""

    url: str
    categories: tuple[str, ...] = ()
    title: str | None = None
    site_url: str | None = None
    overrides: Overrides = field(default_factory=Overrides)


@dataclass(frozen=True, slots=True)
class FeedList:
    """The feeds of a list in its order; `left_out` counts the feeds beyond the limit."""

    feeds: tuple[ListedFeed, ...]
    left_out: int = 0


def overrides_of(values: Mapping[str, object]) -> Overrides:
    """The overrides among named values, in any spelling (`minIntervalSec`); invalid values are ignored."""
    by_name = {letters(name): value for name, value in values.items()}
    found = {field.name: by_name.get(letters(field.name)) for field in fields(Overrides)}
    priority = _number(found["priority"])
    return Overrides(
        priority=int(priority) if priority and priority in range(1, 11) else None,
        min_interval_sec=_number(found["min_interval_sec"]),
        max_interval_sec=_number(found["max_interval_sec"]),
        initial_interval_sec=_number(found["initial_interval_sec"]),
        fixed_interval_sec=_number(found["fixed_interval_sec"]),
        backfill=_is_on(found["backfill"]),
        push_only=_is_on(found["push_only"]),
        no_discovery=_is_on(found["no_discovery"]),
        paused=_is_on(found["paused"]),
        entries_only=_is_on(found["entries_only"]),
        user_agent=_agent(found["user_agent"]),
        keep_rules=_rules(found["keep_rules"]),
        drop_rules=_rules(found["drop_rules"]),
    )


def overrides_from(pairs: Iterable[str]) -> dict[str, object]:
    """The overrides in `NAME=VALUE` words, by name; an empty value resets the override to its default.

    Raises Refusal for an unknown name (`unknown_override`) and for an invalid value (`bad_override`, `bad_rule`).
    """
    names = {letters(field.name): field for field in fields(Overrides)}
    overrides: dict[str, object] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        field = names.get(letters(name))
        if field is None or not mark:
            listed = ", ".join(each.name for each in fields(Overrides))
            raise Refusal("unknown_override", f"{pair!r} is not NAME=VALUE with one of {listed}")
        if field.name in ("keep_rules", "drop_rules"):
            read_rules(value)
        overrides[field.name] = found = overrides_of({field.name: value}).given().get(field.name, field.default)
        if value and found == field.default and SWITCHES.get(value.strip().lower()) is not False:
            raise Refusal("bad_override", f"{value!r} cannot be {field.name}: {_expected(field.name)} is expected")
    return overrides


def _expected(name: str) -> str:
    """The values of an override, in words."""
    if name.endswith("_sec"):
        return "a number of seconds above 0"
    others = {
        "priority": "a whole number from 1 to 10",
        "user_agent": f"a text of {MAX_AGENT} ASCII characters at most",
    }
    return others.get(name, "true or false")


def letters(name: str) -> str:
    """The letters that all spellings of a name share: `min_interval_sec`, `minIntervalSec`, `{ns}minIntervalSec`."""
    return re.sub(r"[^a-z]", "", name.rpartition("}")[2].rpartition(":")[2].lower())


def categories_of(names: Iterable[str]) -> tuple[str, ...]:
    """The categories, cleaned, without repeats, at most MAX_CATEGORIES.

    `/news/world`, a path of OPML 2.0, becomes one name without slashes, because categories are parts of keys and paths.
    Braces are replaced because they mark the tag of a Redis key; control characters are removed.
    """
    texts = ("".join(each if each.isprintable() else " " for each in name.translate(_BRACES)) for name in names)
    clean = (" ".join(name.split()).strip("/").replace("/", "-")[:MAX_CATEGORY] for name in texts)
    return tuple(dict.fromkeys(filter(None, clean)))[:MAX_CATEGORIES]


def _is_on(value: object) -> bool:
    return SWITCHES.get(str(value).strip().lower(), False)


def _agent(value: object) -> str | None:
    text = str(value or "").strip()
    return text if _AGENT.fullmatch(text) else None


def _rules(value: object) -> str:
    """The rules of a text or of a list of texts; none if one of them is invalid."""
    text = "\n".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")
    try:
        read_rules(text)
    except Refusal:
        return ""
    return text.strip()


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if 0 < number < math.inf else None
