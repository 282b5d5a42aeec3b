"""Whether an article that was read is new: its canonical URL, its text and its title against what was met before.

The first that brings a story has it; a later one joins it, and what pointed at the later one is attached to the first.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.articles.joins import Known, Winner
from feedcrawl.domain.articles.media import media_id, new_media
from feedcrawl.domain.articles.similarity import (
    SLACK_CHARS,
    Fingerprint,
    Match,
    Met,
    Rule,
    decode,
    fingerprint,
    matches,
)
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.urls import hostname, registered_domain
from feedcrawl.services.articles.tasks import keeps_slash, merged_event, uid_of, unmerged_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.domain.operations.events import Event
    from feedcrawl.items import Article
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.articles.stories import Stories
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.client import Client, Pipeline

NOT_OF_THE_ENTRY: Final = ("edited", "redirect_chain", "temporary")
"""What the task of an entry's article carries on its own way."""
MAX_TRIED: Final = 3
"""Likely winners that are looked at: those whose article has expired win nothing."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Among which articles a story is looked for: those of the registered domain (`site`), `all`, or none (`off`)."""

    scope: str
    rule: Rule


class Joins:
    """Decides and keeps joins. `settle` asks once in the ordinary case, and once more of each likely winner."""

    def __init__(
        self,
        client: Client,
        stores: tuple[Articles, Stories, MediaRecords, Collections],
        frontier: Frontier,
        policy: Policy,
    ) -> None:
        self._client = client
        self._articles, self._stories, self._media, self._collections = stores
        self._frontier = frontier
        self._policy = policy

    def settle(self, article: Article) -> None:
        """Whose article it is: `merged_into`, `join`, `updated` and `categories` of the item.

        Nothing is written but the claims of its canonical URL and of its story, and claiming twice is claiming once.
        """
        looks = self._looks(article)
        known = article.known = self._ask(article, looks)
        article.categories = list(dict.fromkeys([*article.categories, *sorted(known.wanted)]))
        if article.extraction is None:
            return
        if not self._has_claim(article, known):
            self._join(article, self._winner(article, article.uid))
        elif looks is not None and not known.was_stored:
            for match, winner in self._candidates(article, looks, known):
                self._join(article, winner, match)
                break
        if article.merged_into is None:
            article.updated = known.stored not in (None, article.content_hash)
        if article.join is None and is_named_elsewhere(article):
            lacked = () if article.winner is None else article.winner.lacks
            facts = {"why": "canonical", "similarity": None, "lacked": list(lacked)}
            article.join = _record(article, article.lease.id, article.uid, facts)

    def write(self, pipe: Pipeline, article: Article) -> None:
        """Queues what a read article leaves besides itself: sightings, where losers' uids lead, what was attached."""
        winner, store = article.merged_into or article.uid, self._articles
        losers = losers_of(article)
        if losers or article.merged_into is not None:
            store.sighting(pipe, winner, article.url)
        for loser in losers:
            store.join(pipe, loser, winner)
        if article.merged_into is not None:
            store.categorize(pipe, winner, article.categories)
        elif article.known.joined is not None:
            store.unjoin(pipe, article.uid)
            self._stories.undone(pipe, article.uid)
        self._attach(pipe, article, winner)
        if article.join is not None:
            life_sec, own = store.life_sec, article.join["why"] in ("same_text", "near_text")
            self._stories.join(pipe, article.join, life_sec=life_sec, record=article.record if own else None)
        if winner != article.uid and (looks := self._looks(article)) is not None:
            self._stories.leave(pipe, self._buckets(article, looks)[1], article.uid)

    def events(self, article: Article) -> list[Event]:
        """Where each uid that lost its article leads now, and that one which had joined another tells its own story."""
        known, winner = article.known, article.merged_into or article.uid
        why, similarity = why_joined(article)
        told = [
            merged_event(loser, winner, article.url, winner_url(article), why=why, similarity=similarity)
            for loser in losers_of(article)
        ]
        if article.merged_into is None and known.joined is not None:
            told.append(unmerged_event(article.uid, known.joined, article.url, article.canonical_url))
        return told

    def edited_as_well(self, task: Task, uid: str) -> list[Task]:
        """The task that brought the article `uid`, where an edited entry named another URL of it: it is read again.

        Its own page tells what was edited; the same page as a mobile or print version may differ in other things too.
        """
        owner = self._articles.owners([uid]).get(uid) if task.payload.get("edited") else None
        found = self._frontier.find(owner) if owner not in (None, task.id) else None
        said = {name: value for name, value in task.payload.items() if name not in NOT_OF_THE_ENTRY}
        return [replace(found[0], payload=said)] if found is not None else []

    # --- what is known ---

    def _looks(self, article: Article) -> Fingerprint | None:
        """What others are compared by; None for texts too short to be told from a template's."""
        found = article.extraction
        if found is None or self._policy.scope == "off" or len(found.text) < self._policy.rule.min_chars:
            return None
        return fingerprint(found.title, found.text, found.published)

    def _ask(self, article: Article, looks: Fingerprint | None) -> Known:
        asked, uid = article.lease.id, article.uid
        with self._client.pipeline(transaction=False) as pipe:
            self._articles.ask(pipe, asked, uid, claim=article.extraction is not None)
            self._stories.ask_apart(pipe, uid)
            for each in (asked, uid):
                self._media.ask(pipe, media_id(each))
                self._collections.ask_holders(pipe, media_id(each))
            if looks is not None:
                text, title = self._buckets(article, looks)
                share, slack = self._policy.rule.similarity, 2 * SLACK_CHARS
                around = (int(looks.chars * share) - slack, int(looks.chars / share) + slack)
                brief = replace(looks, numbers=frozenset(), sketch=())
                self._stories.meet(pipe, text, uid, brief.encode(), (looks.chars, looks.chars))
                if looks.title and looks.sketch:
                    self._stories.meet(pipe, title, uid, looks.encode(), around)
            replies = pipe.execute()
        owner, wanted, stored, joined = self._articles.answer(replies, asked)
        apart, first, first_in, own, own_in, *met = replies[self._articles.ASKED :]
        same = [*(tuple(_met(self._stories.met(reply))) for reply in met), (), ()]
        return Known(
            owner=owner,
            wanted=frozenset(wanted),
            stored=stored,
            joined=joined,
            apart=frozenset(apart),
            asked=self._media.read(first),
            own=self._media.read(own),
            asked_in=frozenset(first_in),
            own_in=frozenset(own_in),
            same_text=same[0],
            same_title=same[1],
        )

    def _buckets(self, article: Article, looks: Fingerprint) -> tuple[tuple[str, str], tuple[str, str]]:
        site = "" if self._policy.scope == "all" else registered_domain(hostname(article.canonical_url))
        return ("text", _digest(site, article.content_hash)), ("title", _digest(site, f"{looks.title:08x}"))

    # --- who has the story ---

    def _has_claim(self, article: Article, known: Known) -> bool:
        """Whether the canonical URL is this task's, be it that who had it has ended and left nothing."""
        mine, owner = article.lease.id, known.owner
        if owner == mine:
            return True
        # Asked anew once the owner has ended: who has ended has stored what it brought.
        if known.stored is not None or not self._has_ended(owner) or self._articles.stored([article.uid]):
            return False
        return self._articles.inherit(article.uid, owner, mine)

    def _candidates(self, article: Article, looks: Fingerprint, known: Known) -> Iterator[tuple[Match, Winner]]:
        found = matches(looks, known.same_text, known.same_title, self._policy.rule)
        open_to = [match for match in found if match.uid not in known.apart]
        for match in open_to[:MAX_TRIED]:
            winner = self._winner(article, match.uid)
            if winner.alive:
                yield match, winner

    def _winner(self, article: Article, uid: str) -> Winner:
        with self._client.pipeline(transaction=False) as pipe:
            self._articles.ask_winner(pipe, uid, article.categories)
            (status, canonical_url), owner, *inside = pipe.execute()
        alive = status == "success" or (owner is not None and not self._has_ended(owner))
        lacks = tuple(name for name, there in zip(article.categories, inside, strict=True) if not there)
        return Winner(uid, canonical_url or "", alive, lacks)

    def _has_ended(self, task_id: str) -> bool:
        found = self._frontier.find(task_id)
        return found is None or found[1].status in ("fetched", "dead")

    # --- what comes of it ---

    @staticmethod
    def _join(article: Article, winner: Winner, match: Match | None = None) -> None:
        article.merged_into, article.winner = winner.uid, winner
        if match is not None:
            facts = {"why": match.why, "similarity": match.similarity, "lacked": list(winner.lacks)}
            article.join = _record(article, article.uid, winner.uid, facts)

    def _attach(self, pipe: Pipeline, article: Article, winner: str) -> None:
        """Who holds what was asked for holds the winner, before the loser goes."""
        at, known = article.at, article.known
        for loser in losers_of(article):
            holders = known.asked_in if loser == article.lease.id else known.own_in
            if holders:
                self._media.hold(pipe, new_media(winner, winner_url(article), rfc3339(at)))
                self._collections.attach(pipe, holders, media_id(winner), at.timestamp())
                self._collections.detach(pipe, holders, media_id(loser))


def is_named_elsewhere(article: Article) -> bool:
    """Whether the page itself names another URL as its own than the one that answered."""
    there = uid_of(article.final_url or article.url, keep_trailing_slash=keeps_slash(article.lease.task))
    return article.uid not in (article.lease.id, there)


def winner_url(article: Article) -> str:
    """The canonical URL of the article that an item came to."""
    return (article.winner.canonical_url if article.winner is not None else "") or article.canonical_url


def losers_of(article: Article) -> list[str]:
    """The uids that have no article of their own by this: the one asked for, and its own where it joined another."""
    if article.extraction is None:
        return []
    winner = article.merged_into or article.uid
    return [uid for uid in dict.fromkeys((article.lease.id, article.uid)) if uid != winner]


def why_joined(article: Article) -> tuple[str, float | None]:
    """Why an article's uids lead elsewhere, as its event says: `canonical`, `redirect`, `same_text`, `near_text`."""
    if article.join is None:
        return "redirect", None
    return article.join["why"], article.join["similarity"]


def _record(article: Article, uid: str, winner: str, facts: dict[str, Any]) -> dict[str, Any]:
    """A join as it is kept and shown. `lacked` are the categories that the winner has by this."""
    assert article.extraction is not None
    return {
        "uid": uid,
        "winner": winner,
        **facts,
        "at": rfc3339(article.at),
        "at_ts": round(article.at.timestamp(), 3),
        "asked": article.lease.id,
        "url": article.url,
        "canonical_url": article.canonical_url,
        "winner_url": winner_url(article),
        "title": article.extraction.title,
        "categories": article.categories,
        "collections": sorted(article.known.asked_in | article.known.own_in),
    }


def _met(found: Sequence[tuple[str, str]]) -> Iterator[Met]:
    for uid, left in found:
        yield Met(uid, decode(left))


def _digest(site: str, what: str) -> str:
    return hashlib.sha256(f"{site} {what}".encode()).hexdigest()[:20]
