"""Reads stored articles: one by its uid, or the newest that match a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.fields import ArticleFields
from feedcrawl.domain.articles.query import FIELDS, OUTLINE
from feedcrawl.domain.errors import Refusal
from feedcrawl.services.articles.tasks import record_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.query import ArticleFilter
    from feedcrawl.store.articles.records import Articles

Place = tuple[float, str]
"""The end of a page: the time and uid of its last article."""
_CHUNK: Final = 200
"""Articles that are read together when a filter is given."""
_CHUNK_COST: Final = 20
_BUDGET: Final = 1000
"""The most records that one call reads if few match: some 30 ms. The page then ends early."""


class SightedArticle(ArticleFields):
    """An article with the other URLs that led to it."""

    sightings: list[str]


@dataclass(frozen=True, slots=True)
class Found:
    """The result for a uid: an article, or the uid of the article that it was merged into."""

    article: SightedArticle | None = None
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Articles without their text, newest fetch first. More follow after `next`; None if there are no more."""

    articles: tuple[ArticleFields, ...]
    next: Place | None


class Catalogue:
    """Every method may raise StoreUnavailable."""

    def __init__(self, articles: Articles) -> None:
        self._articles = articles

    def get(self, uid: str) -> Found:
        """An article in the shape of docs/data-format.md, with its other URLs as `sightings`, or the uid of the article
        that it was merged into.

        Raises Refusal: `article_unknown`, or `article_failed` for a URL that ended without an article.
        """
        target, fields, sightings = self._articles.found(uid)
        if target is not None:
            return Found(merged_into=target)
        if not fields:
            raise Refusal("article_unknown", f"no article {uid[:32]!r} is stored: articles expire after some days")
        record = record_of(fields)
        if record["status"] != "success":
            raise Refusal(
                "article_failed", f"{record['url']} ended as {record['failure']} ({record['failure_reason']})"
            )
        return Found({**record, "sightings": sorted(sightings)})

    def page(
        self,
        conditions: ArticleFilter,
        now: datetime,
        *,
        before: Place | None = None,
        limit: int = 50,
        html: bool = False,
    ) -> Page:
        """At most the given number of matching articles, after a place; with `html` each has its sanitised HTML.

        If few articles match, a page may be short or empty without being the last: one call reads a limited number of
        records.
        """
        names = (*OUTLINE, "content_html") if html else OUTLINE
        oldest = now.timestamp() - self._articles.life_sec
        since, budget = max(oldest, conditions.since or 0.0), _BUDGET
        is_all = conditions.category is None and not conditions.is_of_record
        size, chosen = limit + 1 if is_all else _CHUNK, list[Place]()
        while budget > 0:
            found = self._articles.newest(size, before=before, since=since)
            matching, cost = self._matching([uid for uid, _ in found], conditions)
            budget -= cost + _CHUNK_COST
            chosen += [(at, uid) for uid, at in found if uid in matching]
            if len(chosen) > limit:
                return Page(self._outlines(chosen[:limit], names), chosen[limit - 1])
            if len(found) < size:
                return Page(self._outlines(chosen, names), None)
            before = found[-1][1], found[-1][0]
        return Page(self._outlines(chosen, names), before)

    def _matching(self, uids: Sequence[str], conditions: ArticleFilter) -> tuple[set[str], int]:
        """The matching articles, and the number of records read."""
        if conditions.category is not None and uids:
            inside = self._articles.in_category(conditions.category, uids)
            uids = [uid for uid, there in zip(uids, inside, strict=True) if there]
        if not conditions.is_of_record:
            return set(uids), 0
        records = self._articles.outlines(uids, FIELDS)
        return {uid for uid, record in zip(uids, records, strict=True) if conditions.matches(record)}, len(uids)

    def _outlines(self, chosen: Sequence[Place], names: Sequence[str]) -> tuple[ArticleFields, ...]:
        found = self._articles.outlines([uid for _, uid in chosen], names)
        return tuple(record_of(fields) for fields in found if fields)
