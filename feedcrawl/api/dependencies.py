"""Dependencies of routes."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from feedcrawl.wiring import Wiring


def wiring_of(request: Request) -> Wiring:
    """The stores and use cases of this process."""
    return cast("Wiring", request.app.state.wired)


Wired = Annotated[Wiring, Depends(wiring_of)]
