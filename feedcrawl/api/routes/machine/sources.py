"""Sources: sites with settings of their own. Those of the operator's file are read-only, others can be set and
deleted.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path
from fastapi.responses import JSONResponse, Response

from feedcrawl.api import problems, schemas
from feedcrawl.api.access import needs
from feedcrawl.api.dependencies import Wired
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.sites.site_search import page_key
from feedcrawl.domain.sites.source_records import source_record
from feedcrawl.domain.sites.source_values import MAX_NAME
from feedcrawl.domain.sites.sources import Source
from feedcrawl.services.sites.sources import SourceBook

router = APIRouter(prefix="/sources", tags=["sources"], dependencies=[Depends(needs("read"))])

ADMIN = [Depends(needs("admin"))]
Name = Annotated[str, Path(min_length=1, max_length=MAX_NAME, examples=["news"])]
_EXAMPLE = {"base_url": "https://news.example.com/", "feed_url": "https://news.example.com/feed.xml", "priority": 7}
Entry = Annotated[dict[str, object], Body(description="The fields of docs/sources.md", examples=[_EXAMPLE])]
_SOURCE = schemas.component(
    "Source",
    {
        "type": "object",
        "description": "The fields of docs/sources.md, and whether the file has it",
    },
)
_SOURCES = schemas.component("Sources", schemas.fields(sources={"type": "array", "items": _SOURCE}))
_ONE = schemas.answer("The source", _SOURCE)


@router.get(
    "",
    operation_id="list_sources",
    responses={200: schemas.answer("Sources", _SOURCES)},
)
def list_sources(wired: Wired) -> Response:
    """All sources. Those with `in_file` are changed in the file that FEEDCRAWL_SOURCES names."""
    known = wired.current_sources()
    return JSONResponse({"sources": [_public(each, wired.source_book) for each in known.values()]})


@router.get("/{name}", operation_id="get_source", responses={200: _ONE, **problems.answers(404)})
def get_source(name: Name, wired: Wired) -> Response:
    """A source with its given fields, and the last search of its site for a feed and sitemaps."""
    found = wired.current_sources().get(name)
    if found is None:
        raise Refusal("no_such_source", f"there is no source {name!r}")
    key = page_key(found.base_url)
    return JSONResponse(_public(found, wired.source_book) | {"search": wired.site_searches.find([key]).get(key)})


@router.put(
    "/{name}",
    operation_id="put_source",
    dependencies=ADMIN,
    responses={200: _ONE, 201: schemas.answer("It is new", _SOURCE), **problems.answers(409)},
)
async def put_source(name: Name, entry: Entry, wired: Wired) -> Response:
    """Sets a source. Its feeds are subscribed and its hosts paced at once; running crawls follow within a minute."""
    definition = {**entry, "name": entry.get("name", name)}
    if definition["name"] != name:
        raise Refusal("bad_sources", "the name in the body is not the one in the path")
    for url in _urls(definition):
        wired.gate.passed(url)
    source, is_new = await wired.source_book.put(wired.source_stores, definition)
    return JSONResponse(_public(source, wired.source_book), 201 if is_new else 200)


@router.delete(
    "/{name}",
    status_code=204,
    operation_id="drop_source",
    dependencies=ADMIN,
    responses=problems.answers(404, 409),
)
def drop_source(name: Name, wired: Wired) -> None:
    """Deletes a source. Its feeds stay subscribed until they are unsubscribed."""
    wired.source_book.drop(wired.source_stores, name)


def _public(source: Source, book: SourceBook) -> dict[str, object]:
    return source_record(source) | {"in_file": book.in_file(source.name)}


def _urls(definition: dict[str, object]) -> list[str]:
    """The URLs that a source names; values that are not text are left to `read_source` to refuse."""
    named = (definition.get(field) for field in ("base_url", "feed_url", "feed_urls", "sitemap_url", "sitemap_urls"))
    listed = (each if isinstance(each, list) else [each] for each in named)
    return [url for urls in listed for url in urls if isinstance(url, str)]
