"""JSON values: their types, their text, and the fields of a dataclass among the fields of a JSON object."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value that `json.loads` returns."""
JsonObject: TypeAlias = dict[str, Json]

STRICT_JSON: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
"""Refuses bytes, sets and times, which msgspec writes as text."""


def compact_json(value: object) -> str:
    """A JSON value as text without white space. Lone surrogates, which some JSON feeds escape, stay in the text."""
    try:
        return _encode()(value).decode()
    except (TypeError, UnicodeEncodeError, OverflowError):  # subclasses of str, lone surrogates, integers over 64 bits
        return STRICT_JSON.encode(value)


def from_json_text(text: str) -> Any:
    """The value of a JSON text, as the standard library reads it. Raises ValueError for a text that is not JSON."""
    try:
        return _decode()(text)
    except ValueError:  # also lone surrogates, NaN and numbers beyond a float, which the standard library reads
        return json.loads(text)


@cache
def _encode() -> Callable[[object], bytes]:
    """The encoder of msgspec, which takes a fifth of the standard library's time; imported at the first use, since most
    commands write no JSON.
    """
    import msgspec  # noqa: PLC0415

    return msgspec.json.Encoder().encode


@cache
def _decode() -> Callable[[str], Any]:
    """The decoder of msgspec, imported as the encoder is."""
    import msgspec  # noqa: PLC0415

    return msgspec.json.Decoder().decode


def known_fields(kind: type, record: Mapping[str, object]) -> dict[str, Any]:
    """The values of a stored record for the fields of a dataclass; fields unknown to this version are left out."""
    names: Mapping[str, object] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # of every dataclass
    if record.keys() <= names.keys():
        return dict(record)
    return {name: value for name, value in record.items() if name in names}
