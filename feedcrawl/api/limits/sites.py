"""Requests that a browser sends for pages of other sites (Fetch Metadata, https://www.w3.org/TR/fetch-metadata/)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from feedcrawl.api.access import shown_token
from feedcrawl.api.problems import CROSS_SITE, refused
from feedcrawl.domain.errors import Refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_OPEN: Final = ("/healthz", "/websub/", "/rsscloud/")
"""Routes whose responses do not depend on stored data."""
_DETAIL: Final = "a page of another site sent this request; open the address itself, or send a token"


class Sites:
    """Refuses requests that are cross-site and have no token: 403 (`cross_site`).

    A page of any site could else load `/articles/UID` of a caller on this machine, and learn from success or failure
    whether the article is stored.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers with the problem."""
        if scope["type"] == "http" and _is_foreign(Request(scope)):
            await refused(Refusal(CROSS_SITE, _DETAIL))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_foreign(request: Request) -> bool:
    is_cross_site = request.headers.get("sec-fetch-site") == "cross-site"
    return is_cross_site and not request.url.path.startswith(_OPEN) and shown_token(request) is None
