"""Collections of an actor: created, filled, read, deleted. Collections of other actors are invisible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict

from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.articles.query import OUTLINE
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.articles.tasks import record_of
from feedcrawl.store.articles.collections import DEFAULT, PAGE, full_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.media import Media
    from feedcrawl.domain.articles.page_records import MediaFragments
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.redis.client import Client

Place = tuple[float, str]
"""The end of a page: the time at which its last article was added, and the id of that article."""
MAX_COLLECTIONS: Final = 1000
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HTML: Final = "content_html"


class UnknownCollection(Refusal):
    """The actor has no collection of this name."""


class CollectionRecord(TypedDict):
    """A collection as the API lists it; `articles` is their number, `created_at` null for the default collection."""

    name: str
    articles: int
    created_at: str | None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a collection; `article` is set once it has been read, and outlives the article's own retention."""

    media: Media
    since: float
    article: ArticleFields | None


@dataclass(frozen=True, slots=True)
class Page:
    """Members of a collection, last added first. More follow after `next`; None if there are no more."""

    members: tuple[Member, ...]
    next: Place | None


def own_collection(store: Collections, actor: str, name: str) -> str:
    """The full name of a collection of the actor; raises UnknownCollection."""
    if not store.knows(actor, name):
        raise UnknownCollection("collection_unknown", f"there is no collection {name[:80]!r}: create it first")
    return full_name(actor, name)


class CollectionService:
    """Every method may raise StoreUnavailable; methods that take a collection's name may raise UnknownCollection."""

    def __init__(self, client: Client, stores: tuple[Articles, MediaRecords, Collections]) -> None:
        self._client = client
        self._articles, self._records, self._collections = stores

    def all(self, actor: str) -> list[CollectionRecord]:
        """The actor's collections by name, the default collection first: `name`, `articles` (their number),
        `created_at`.
        """
        made = {DEFAULT: None} | dict(sorted(self._collections.listed(actor).items()))
        sizes = self._collections.sizes([full_name(actor, name) for name in made])
        return [
            {"name": name, "articles": size, "created_at": at}
            for (name, at), size in zip(made.items(), sizes, strict=True)
        ]

    def make(self, actor: str, name: str, now: datetime) -> CollectionRecord:
        """Create a collection; raises Refusal (`bad_collection_name` `collection_exists` `too_many_collections`)."""
        if not NAME.fullmatch(name):
            raise Refusal(
                "bad_collection_name", "a name must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or digit"
            )
        at = rfc3339(now)
        if len(self._collections.listed(actor)) >= MAX_COLLECTIONS:
            raise Refusal("too_many_collections", f"an actor may have {MAX_COLLECTIONS} collections: delete one first")
        if name == DEFAULT or not self._collections.make(actor, name, at):
            raise Refusal("collection_exists", f"a collection {name!r} exists already")
        return {"name": name, "articles": 0, "created_at": at}

    def drop(self, actor: str, name: str) -> None:
        """Delete a collection and release its articles; raises Refusal (`collection_is_default`)."""
        full = own_collection(self._collections, actor, name)
        if name == DEFAULT:
            raise Refusal("collection_is_default", "the default collection cannot be deleted: remove its articles")
        self._collections.forget(actor, name)
        while members := self._collections.members(full, PAGE):
            self._let_go(full, members)

    def take_out(self, actor: str, name: str, uid: str) -> None:
        """Remove one article from a collection; raises Refusal (`article_not_held`)."""
        full, member = own_collection(self._collections, actor, name), media_id(uid)
        if not self._collections.holds(full, member):
            raise Refusal("article_not_held", f"{name} does not hold the article {uid[:32]!r}")
        self._let_go(full, [member])

    def page(self, actor: str, name: str, *, before: Place | None = None, limit: int = 50, html: bool = False) -> Page:
        """At most the given number of a collection's members, after a place; each article as in a list, or with
        its HTML.
        """
        full = own_collection(self._collections, actor, name)
        found = self._collections.page(full, limit + 1, before)
        is_last, found = len(found) <= limit, found[:limit]
        records = self._records.get_all([each for each, _ in found])
        media = [each for each in records if each is not None]
        articles = dict(zip([each.media_id for each in media], self._read(media, html=html), strict=True))
        members = tuple(
            Member(each, at, articles[each.media_id])
            for each, (_, at) in zip(records, found, strict=True)
            if each is not None
        )
        return Page(members, None if is_last else (found[-1][1], found[-1][0]))

    def _read(self, media: Sequence[Media], *, html: bool) -> list[ArticleFields | None]:
        """The version of each article that its page record names, from the article itself or from the kept copy."""
        names = (*OUTLINE, _HTML) if html else OUTLINE
        stored = self._articles.outlines([each.uid for each in media], names)
        current = [
            each.content_hash is not None and fields.get("content_hash") == each.content_hash
            for each, fields in zip(media, stored, strict=True)
        ]
        lacking = [each for each, is_there in zip(media, current, strict=True) if not is_there]
        kept = iter(self._records.kept(lacking) if lacking else ())
        return [
            record_of(fields) if is_there else _with_html(*next(kept), html=html)
            for fields, is_there in zip(stored, current, strict=True)
        ]

    def _let_go(self, collection: str, media_ids: Sequence[str]) -> None:
        """Remove page records from a collection; records in no collection then expire. A collection that adds one
        meanwhile keeps it.
        """
        with self._client.pipeline(transaction=False) as pipe:
            for each in media_ids:
                self._collections.detach(pipe, [collection], each)
            pipe.execute()
        free = self._in_no_collection(media_ids)
        with self._client.pipeline(transaction=False) as pipe:
            for each in free:
                self._records.release(pipe, each)
            pipe.execute()
        taken = set(free) - set(self._in_no_collection(free))
        with self._client.pipeline(transaction=False) as pipe:
            for media in self._records.get_all(sorted(taken)):
                if media is not None:
                    self._records.hold(pipe, media)
            pipe.execute()

    def _in_no_collection(self, media_ids: Sequence[str]) -> list[str]:
        with self._client.pipeline(transaction=False) as pipe:
            for each in media_ids:
                self._collections.query_holders(pipe, each)
            return [each for each, holders in zip(media_ids, pipe.execute(), strict=True) if not holders]


def _with_html(article: ArticleFields | None, parts: Sequence[MediaFragments], *, html: bool) -> ArticleFields | None:
    if article is None or not html:
        return article
    return {**article, "content_html": parts[0]["html_sanitized"] if parts else None}
