"""Answers a feed's request with the delivery of its hub (order 5, before everything else)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Response

if TYPE_CHECKING:
    from scrapy import Request

    from feedcrawl.store.push.websub import HubState


class PushMiddleware:
    """A request with `meta["delivery"]` (a `HubState`) is not sent: the hub's delivery already has the document."""

    def process_request(self, request: Request) -> Response | None:
        """The delivery as a response, with the body as the hub sent it; None if there is no delivery."""
        hub: HubState | None = request.meta.get("delivery")
        if hub is None or hub.delivery is None:
            return None
        declared, body = hub.delivery
        return Response(request.url, headers={"Content-Type": declared}, body=body)
