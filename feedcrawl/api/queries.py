"""Refuses query parameters that a route does not have: if they were ignored, the response would be misleading."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from fastapi import Request

from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi.dependencies.models import Dependant
    from fastapi.routing import APIRoute


async def known_parameters(request: Request) -> None:
    """Checks the names in a request's query against its route. `access.needs` calls this once the caller is known.

    Refusal: `unknown_parameter` for a name that the route does not take, `repeated_parameter` for one given twice.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    if not names:
        return
    route = cast("APIRoute", request.scope["route"])
    taken = sorted(set(_taken(route.dependant)))
    for name in names:
        if name not in taken:
            raise Refusal("unknown_parameter", unknown(name, taken))
        if names.count(name) > 1:
            raise Refusal("repeated_parameter", f"parameter {name!r} is given more than once")


def _taken(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for each in dependant.dependencies:
        yield from _taken(each)


def unknown(name: str, taken: list[str]) -> str:
    """A sentence about a parameter that does not exist, with the nearest of those that do."""
    near = get_close_matches(name, taken, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    others = f"it takes {', '.join(taken)}" if taken else "it takes none"
    return f"this route has no parameter {name[:100]!r}{guess} ({others})"
