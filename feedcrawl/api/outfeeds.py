"""Published feeds: pages of articles as Atom or JSON Feed, with their links."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from fastapi.responses import Response
from starlette.convertors import Convertor, register_url_convertor

from feedcrawl.api.paging import address, cursor_of
from feedcrawl.domain.articles.outfeeds import ATOM_TYPE, JSON_TYPE, OutFeed, atom, entry_of, iri, json_feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastapi import Request

    from feedcrawl.config import Config
    from feedcrawl.domain.articles.fields import ArticleFields

Form = Literal["atom", "json"]


class _Forms(Convertor[str]):
    """The part `atom` or `json` of a path; a name before it may contain dots."""

    regex = "atom|json"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("outfeed", _Forms())


def outfeed(
    request: Request,
    config: Config,
    feed: tuple[str, str],
    articles: Sequence[ArticleFields],
    following: tuple[float, str] | None,
    *,
    form: Form,
) -> Response:
    """A page of a published feed; `feed` is its title and the query that distinguishes it from feeds of the same path.

    The links are in the document and in the Link header, for readers and for hubs.
    """
    title, whose = feed
    base = (config.public_url or str(request.base_url)).rstrip("/")
    here = iri(base + address(request))
    further = iri(base + address(request, cursor=cursor_of(following))) if following else None
    updated = datetime.fromtimestamp(articles[0]["fetched_ts"] if articles else 0, UTC)
    whole = iri(f"{base}{request.url.path}{whose}")
    # Readers who rely on a hub no longer poll, so a feed names a hub only if that hub is notified: of whole feeds, by
    # their public addresses.
    hub = config.hub_url if config.public_url and not request.url.query else None
    made = OutFeed(title, here, updated, id=whole, next_url=further, hub_url=hub)
    links = {"self": here, "next": further, "hub": hub}
    headers = {"Link": ", ".join(f'<{url}>; rel="{rel}"' for rel, url in links.items() if url)}
    write, kind = (atom, ATOM_TYPE) if form == "atom" else (json_feed, JSON_TYPE)
    return Response(write(made, [entry_of(each) for each in articles]), headers=headers, media_type=kind)
