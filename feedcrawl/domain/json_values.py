"""JSON values: their types, and the fields of a dataclass among the fields of a JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value that `json.loads` returns."""
JsonObject: TypeAlias = dict[str, Json]


def known_fields(kind: type, record: Mapping[str, object]) -> dict[str, Any]:
    """The values of a stored record for the fields of a dataclass; fields unknown to this version are left out."""
    names: Mapping[str, object] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # of every dataclass
    return {name: value for name, value in record.items() if name in names}
