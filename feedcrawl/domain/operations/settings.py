"""One setting of this project: its declaration, and the conversion of a raw text or number into its value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

from feedcrawl.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PREFIX: Final = "FEEDCRAWL_"
DAY_SEC: Final = 86_400
FIXED: Final = {
    "redis_url": "REDIS_URL",
    "max_xml_depth": "nothing: it is always 256",
}
"""Settings of other programs for which this project has none, and the reason."""
OTHER_PREFIX: Final = "PAGE_FETCHER_"
"""Prefix of another fetcher's variables, which may still be set on a machine where that fetcher ran."""

SWITCHES: Final = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
"""The words for on and off, in settings, arguments of spiders and lists of feeds."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Values that a setting accepts: limits of a number, or a list of allowed words."""

    at_least: float = 0
    above: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()

    def refusal(self, value: object) -> str | None:
        """The expected values, in words, if `value` is not accepted; None if the value is accepted."""
        if self.choices:
            return None if value in self.choices else _listed(self.choices)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        low = value > self.above if self.above is not None else value >= self.at_least
        high = value < math.inf if self.at_most is None else value <= self.at_most
        return None if low and high else self._range()

    def _range(self) -> str:
        low = f"above {self.above:g}" if self.above is not None else f"{self.at_least:g} or more"
        if self.at_most is None:
            return low
        if self.above is not None:
            return f"{low} and at most {self.at_most:g}"
        return (
            f"from {self.at_least:g} to {self.at_most:g}" if self.at_most < 1000 else f"{low}, up to {self.at_most:.0f}"
        )


def _listed(words: tuple[str, ...]) -> str:
    if len(words) > 3:
        return f"one of {', '.join(words)}"
    return f"{', '.join(words[:-1])} or {words[-1]}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A declared setting: full name, accepted types, default, unit, meaning, section of the documentation, bounds.

    `also` has the names of the same setting in other programs (HOST_RPS, b_up, …).
    """

    name: str
    types: tuple[type, ...]
    default: str | float | None
    unit: str
    meaning: str
    section: str
    bounds: Bounds
    also: tuple[str, ...] = ()

    def read(self, value: object) -> object:
        """The typed value of a raw `value` (environment or `-s`); ConfigError with the setting's name if invalid."""
        optional = type(None) in self.types
        if value is None or (value == "" and (str not in self.types or optional)):
            if optional:
                return None
            raise ConfigError(f"{self.name} must be given")
        found = self._typed(value)
        if (expected := self.bounds.refusal(found)) is not None:
            raise ConfigError(f"{self.name} must be {expected}")
        return found

    def _typed(self, value: object) -> object:
        if bool in self.types:
            return self._boolean(value)
        if int in self.types or float in self.types:
            return self._number(value, whole=int in self.types)
        return self._path(value) if Path in self.types else str(value)

    def _number(self, value: object, *, whole: bool) -> float:
        try:
            number = int(value) if whole else float(value)  # type: ignore[call-overload, arg-type]  # refused below
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number) or (isinstance(value, float) and number != value):
            raise ConfigError(f"{self.name} must be a {'whole ' if whole else ''}number, not {value!r}")
        return number

    def _path(self, value: object) -> Path:
        try:
            return Path(value).expanduser()  # type: ignore[arg-type]  # refused below
        except (TypeError, RuntimeError):  # not a text; or a `~name` of an unknown user
            raise ConfigError(f"{self.name} must be a path, not {value!r}") from None

    def _boolean(self, value: object) -> bool:
        try:
            return SWITCHES[str(value).lower()]
        except KeyError:
            raise ConfigError(f"{self.name} must be on or off, not {value!r}") from None


def setting(default: str | float | None, unit: str, meaning: str, **more: Any) -> Any:
    """A dataclass field that declares a setting.

    `more`: `section` begins a section of docs/settings.md, `also` has the names in other programs, `secret` keeps the
    value out of `repr`; the rest are fields of Bounds.
    """
    section, also, secret = more.pop("section", ""), more.pop("also", ()), more.pop("secret", False)
    metadata = {"unit": unit, "meaning": meaning, "section": section, "also": also, "bounds": Bounds(**more)}
    return field(default=default, metadata=metadata, repr=not secret)


def declared(config: type) -> tuple[Setting, ...]:
    """The settings that the fields of a dataclass declare, in their order."""
    return tuple(_declared(config))


def _declared(config: type) -> Iterator[Setting]:
    kinds = get_type_hints(config)
    section = ""
    for each in fields(config):
        section = each.metadata["section"] or section
        kind = kinds[each.name]
        types = get_args(kind) or (kind,)
        metadata = {**each.metadata, "section": section}
        yield Setting(name=f"{PREFIX}{each.name.upper()}", types=types, default=_raw(each.default), **metadata)


def _raw(default: object) -> str | float | None:
    assert default is None or isinstance(default, str | float | int)
    return default


def is_list_name(name: str) -> bool:
    """True if a list of another program may have this name: it is none of our keys, and no hash tag of a cluster."""
    ours = ("fc:", "rss:", "webpage:", "robots:", "feedcrawl:")
    return re.fullmatch(r"[^\s{}]{1,200}", name) is not None and not name.startswith(ours)


def check_names(names: Iterable[str], declared: tuple[Setting, ...], fixed: dict[str, str]) -> None:
    """Raise ConfigError for an undeclared name with our prefix; the error names the setting that was probably meant.

    `fixed` has the names of other programs for which this project has no setting, each with the reason.
    """
    known = {setting.name for setting in declared}
    for name in names:
        if name.startswith((PREFIX, OTHER_PREFIX)) and name not in known:
            raise ConfigError(f"{name} is no setting; {_meant(name, declared, fixed)}")


def _meant(name: str, declared: tuple[Setting, ...], fixed: dict[str, str]) -> str:
    theirs = name.removeprefix(PREFIX).removeprefix(OTHER_PREFIX)
    found = next((each.name for each in declared if theirs.lower() in map(str.lower, each.also)), None)
    found = found or fixed.get(theirs.lower())
    if found:
        return f"{theirs} of other programs is {found} here (docs/settings.md has its unit)"
    nearest = get_close_matches(f"{PREFIX}{theirs}", [each.name for each in declared], n=1, cutoff=0)
    return f"the nearest is {nearest[0]} (docs/settings.md lists all)"


def rows(declared: tuple[Setting, ...]) -> str:
    """The sections and tables of docs/settings.md, in Markdown."""
    lines: list[str] = []
    section = ""
    for each in declared:
        if each.section != section:
            section = each.section
            lines += [*([""] if lines else []), f"### {section}", "", _HEAD, "|---|---|---|---|---|"]
        names = ", ".join(f"`{name}`" for name in each.also)
        lines.append(f"| `{each.name}` | {_shown(each.default)} | {each.unit} | {each.meaning} | {names} |")
    return "\n".join(lines) + "\n"


_HEAD: Final = "| name | default | unit | meaning | names elsewhere |"


def _shown(value: str | float | None) -> str:
    if value in (None, ""):
        return "none"
    return f"`{int(value) if isinstance(value, float) and value.is_integer() else value}`"
