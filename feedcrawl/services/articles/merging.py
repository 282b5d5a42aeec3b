"""Merges: decides whether an extracted article is new, by its canonical URL, its text and its title.

The first article of a story keeps it; a later article is merged into the first, and whatever referred to the later one
then refers to the first.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.media import media_id, new_media
from feedcrawl.domain.articles.merging import Known, Target
from feedcrawl.domain.articles.similarity import (
    SLACK_CHARS,
    Fingerprint,
    Fingerprinted,
    Match,
    Rule,
    decode,
    fingerprint,
    matches,
)
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.frontier.payloads import OF_REDIRECTS, without
from feedcrawl.domain.urls import hostname, registered_domain
from feedcrawl.services.articles.tasks import keeps_slash, merged_event, part_of, uid_of, unmerged_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from feedcrawl.domain.articles.records import MergeReason, MergeRecord
    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.domain.operations.events import Event
    from feedcrawl.items import Article
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.articles.stories import Stories
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.client import Client, Pipeline

NOT_OF_THE_ENTRY: Final = ("edited", *OF_REDIRECTS)
"""Payload fields that describe the task's own course and not the entry."""
MAX_TRIED: Final = 3
"""The most candidates that are checked for a merge: an article that has expired is no target."""


@dataclass(frozen=True, slots=True)
class MergingPolicy:
    """The articles that are compared: those of the registered domain (`site`), `all`, or none (`off`)."""

    scope: str
    rule: Rule


class Merging:
    """Decides and stores merges. `settle` usually takes one round trip, and one more per candidate."""

    def __init__(
        self,
        client: Client,
        stores: tuple[Articles, Stories, MediaRecords, Collections],
        frontier: Frontier,
        policy: MergingPolicy,
    ) -> None:
        self._client = client
        self._articles, self._stories, self._media, self._collections = stores
        self._frontier = frontier
        self._policy = policy

    def settle(self, article: Article) -> None:
        """Decide whether an article is merged: sets `merged_into`, `merge`, `updated` and `categories` of the item.

        Writes only the claims of its canonical URL and of its story; a claim may be repeated.
        """
        fingerprint = self._fingerprint(article)
        known = article.known = self._load(article, fingerprint)
        article.categories = list(dict.fromkeys([*article.categories, *sorted(known.requested_categories)]))
        if article.extraction is None:
            return
        if not self._has_claim(article, known):
            self._merge(article, self._target(article, article.uid))
        elif fingerprint is not None and not known.was_stored:
            for match, target in self._candidates(article, fingerprint, known):
                self._merge(article, target, match)
                break
        if article.merged_into is None:
            article.updated = known.stored not in (None, article.content_hash)
        if article.merge is None and is_named_elsewhere(article):
            lacked = () if article.target is None else article.target.lacks
            article.merge = _record(article, (article.lease.id, article.uid), "canonical", lacked)

    def write(self, pipe: Pipeline, article: Article) -> None:
        """Queue the writes besides the article itself: sightings, redirects of merged uids, and collections."""
        target, store = article.merged_into or article.uid, self._articles
        uids = merged_uids(article)
        if uids or article.merged_into is not None:
            store.add_other_url(pipe, target, article.url)
        for merged in uids:
            store.merge(pipe, merged, target)
        if article.merged_into is not None:
            store.categorize(pipe, target, article.categories)
        elif article.known.merged_before is not None:
            store.unmerge(pipe, article.uid)
            self._stories.undone(pipe, article.uid)
        self._attach(pipe, article, target)
        if article.merge is not None:
            life_sec, own = store.life_sec, article.merge["why"] in ("same_text", "near_text")
            self._stories.merge(pipe, article.merge, life_sec=life_sec, record=article.record if own else None)
        if target != article.uid and (fingerprint := self._fingerprint(article)) is not None:
            self._stories.leave(pipe, self._buckets(article, fingerprint)[1], article.uid)

    def events(self, article: Article) -> list[Event]:
        """An event for each uid that was merged, and one for an article that is no longer merged into another."""
        known, target = article.known, article.merged_into or article.uid
        why, similarity = reason_of_merge(article)
        events = [
            merged_event(merged, target, article.url, target_url(article), why=why, similarity=similarity)
            for merged in merged_uids(article)
        ]
        if article.merged_into is None and known.merged_before is not None:
            events.append(unmerged_event(article.uid, known.merged_before, article.url, article.canonical_url))
        return events

    def edited_as_well(self, task: Task, uid: str) -> list[Task]:
        """The task that brought the article `uid`, to be run again, if an edited entry names another URL of the
        article.

        The article's own page shows what was edited; a mobile or print version of the page may differ in other ways
        too.
        """
        owner = self._articles.owners([uid]).get(uid) if task.payload.get("edited") else None
        found = self._frontier.find(owner) if owner not in (None, task.id) else None
        payload = without(task.payload, NOT_OF_THE_ENTRY)
        return [replace(found[0], payload=payload)] if found is not None else []

    # --- the stored state ---

    def _fingerprint(self, article: Article) -> Fingerprint | None:
        """The fingerprint by which articles are compared; None for a text too short to differ from a page
        template.
        """
        found = article.extraction
        if found is None or self._policy.scope == "off" or len(found.text) < self._policy.rule.min_chars:
            return None
        return fingerprint(found.title, found.text, found.published)

    def _load(self, article: Article, fingerprint: Fingerprint | None) -> Known:
        task_id, uid = article.lease.id, article.uid
        with self._client.pipeline(transaction=False) as pipe:
            self._articles.query(pipe, task_id, uid, claim=article.extraction is not None)
            self._stories.query_apart(pipe, uid)
            for each in (task_id, uid):
                self._media.query(pipe, media_id(each))
                self._collections.query_holders(pipe, media_id(each))
            if fingerprint is not None:
                text, title = self._buckets(article, fingerprint)
                share, slack = self._policy.rule.similarity, 2 * SLACK_CHARS
                around = (int(fingerprint.chars * share) - slack, int(fingerprint.chars / share) + slack)
                brief = replace(fingerprint, numbers=frozenset(), sketch=())
                self._stories.enter(pipe, text, uid, brief.encode(), (fingerprint.chars, fingerprint.chars))
                if fingerprint.title and fingerprint.sketch:
                    self._stories.enter(pipe, title, uid, fingerprint.encode(), around)
            replies = pipe.execute()
        owner, requested_categories, stored, merged_before = self._articles.decoded(replies, task_id)
        apart, first, first_in, own, own_in, *met = replies[self._articles.QUERIES :]
        same = [*(tuple(_met(self._stories.earlier(reply))) for reply in met), (), ()]
        return Known(
            owner=owner,
            requested_categories=frozenset(requested_categories),
            stored=stored,
            merged_before=merged_before,
            apart=frozenset(apart),
            requested=self._media.read(first),
            own=self._media.read(own),
            requested_in=frozenset(first_in),
            own_in=frozenset(own_in),
            same_text=same[0],
            same_title=same[1],
        )

    def _buckets(self, article: Article, fingerprint: Fingerprint) -> tuple[tuple[str, str], tuple[str, str]]:
        site = "" if self._policy.scope == "all" else registered_domain(hostname(article.canonical_url))
        return ("text", _digest(site, article.content_hash)), ("title", _digest(site, f"{fingerprint.title:08x}"))

    # --- the decision ---

    def _has_claim(self, article: Article, known: Known) -> bool:
        """True if this task owns the canonical URL, or can inherit it because its owner ended without storing an
        article.
        """
        mine, owner = article.lease.id, known.owner
        if owner == mine:
            return True
        # Checked again after the owner has ended, since the owner stores its article before it ends.
        if known.stored is not None or not self._has_ended(owner) or self._articles.stored([article.uid]):
            return False
        return self._articles.inherit(article.uid, owner, mine)

    def _candidates(self, article: Article, fingerprint: Fingerprint, known: Known) -> Iterator[tuple[Match, Target]]:
        found = matches(fingerprint, known.same_text, known.same_title, self._policy.rule)
        open_to = [match for match in found if match.uid not in known.apart]
        for match in open_to[:MAX_TRIED]:
            target = self._target(article, match.uid)
            if target.alive:
                yield match, target

    def _target(self, article: Article, uid: str) -> Target:
        with self._client.pipeline(transaction=False) as pipe:
            self._articles.query_target(pipe, uid, article.categories)
            (status, canonical_url), owner, *inside = pipe.execute()
        alive = status == "success" or (owner is not None and not self._has_ended(owner))
        lacks = tuple(name for name, there in zip(article.categories, inside, strict=True) if not there)
        return Target(uid, canonical_url or "", alive, lacks)

    def _has_ended(self, task_id: str) -> bool:
        found = self._frontier.find(task_id)
        return found is None or found[1].status in ("fetched", "dead")

    # --- the result ---

    @staticmethod
    def _merge(article: Article, target: Target, match: Match | None = None) -> None:
        article.merged_into, article.target = target.uid, target
        if match is not None:
            article.merge = _record(article, (article.uid, target.uid), match.why, target.lacks, match.similarity)

    def _attach(self, pipe: Pipeline, article: Article, target: str) -> None:
        """Move collections from the merged uids to the article that they were merged into, before the merged
        records go.
        """
        at, known = article.at, article.known
        for merged in merged_uids(article):
            holders = known.requested_in if merged == article.lease.id else known.own_in
            if holders:
                self._media.hold(pipe, new_media(target, target_url(article), rfc3339(at)))
                self._collections.attach(pipe, holders, media_id(target), at.timestamp())
                self._collections.detach(pipe, holders, media_id(merged))


def is_named_elsewhere(article: Article) -> bool:
    """True if the page declares a canonical URL other than the requested URL and the URL that responded."""
    task = article.lease.task
    there = uid_of(article.final_url or article.url, keep_trailing_slash=keeps_slash(task), part=part_of(task))
    return article.uid not in (article.lease.id, there)


def target_url(article: Article) -> str:
    """The canonical URL of the article that an item ended in."""
    return (article.target.canonical_url if article.target is not None else "") or article.canonical_url


def merged_uids(article: Article) -> list[str]:
    """The uids that have no article of their own after the merge: the requested uid, and the article's own uid if
    it was merged.
    """
    if article.extraction is None:
        return []
    target = article.merged_into or article.uid
    return [uid for uid in dict.fromkeys((article.lease.id, article.uid)) if uid != target]


def reason_of_merge(article: Article) -> tuple[str, float | None]:
    """The reason of the merge for its event (`canonical`, `redirect`, `same_text`, `near_text`), and the
    similarity.
    """
    if article.merge is None:
        return "redirect", None
    return article.merge["why"], article.merge["similarity"]


def _record(
    article: Article,
    uids: tuple[str, str],
    why: MergeReason,
    lacked: Sequence[str],
    similarity: float | None = None,
) -> MergeRecord:
    """The stored record of the merge of one uid into another. `lacked`: categories that the other article gains."""
    assert article.extraction is not None
    uid, target = uids
    return {
        "uid": uid,
        "winner": target,
        "why": why,
        "similarity": similarity,
        "lacked": list(lacked),
        "at": rfc3339(article.at),
        "at_ts": round(article.at.timestamp(), 3),
        "asked": article.lease.id,
        "url": article.url,
        "canonical_url": article.canonical_url,
        "winner_url": target_url(article),
        "title": article.extraction.title,
        "categories": article.categories,
        "collections": sorted(article.known.requested_in | article.known.own_in),
    }


def _met(found: Sequence[tuple[str, str]]) -> Iterator[Fingerprinted]:
    for uid, left in found:
        yield Fingerprinted(uid, decode(left))


def _digest(site: str, what: str) -> str:
    return hashlib.sha256(f"{site} {what}".encode()).hexdigest()[:20]
