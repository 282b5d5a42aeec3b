"""Makes requests conditional (order 300): `meta["validators"]` become the headers of a conditional GET."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

    from feedcrawl.domain.http.conditional import Validators


class ConditionalMiddleware:
    """Adds If-None-Match and If-Modified-Since to a request whose meta has `validators`.

    Validators belong to one origin. After a redirect to another origin the redirect middleware has dropped the headers;
    the redirected request has `redirect_urls`, and so the headers are not added again.
    """

    def process_request(self, request: Request) -> None:
        """Adds the headers, unless the request follows a redirect."""
        validators: Validators | None = request.meta.get("validators")
        if validators is None or "redirect_urls" in request.meta:
            return
        for name, value in validators.headers().items():
            request.headers[name] = value
