"""Compares the entries of a poll with the known entries of the feed, and stores the new entries."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.entries.lineage import MAX_TEXT_REVISIONS, IdQuality, withdrawn
from feedcrawl.domain.entries.parts import parts_of
from feedcrawl.domain.entries.recognition import RecognisedEntry, recognise
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.feeds.formats.reading import MAX_ENTRIES
from feedcrawl.domain.json_values import known_fields
from feedcrawl.domain.operations.events import Event, event
from feedcrawl.domain.subscriptions.moves import is_strange, move_from
from feedcrawl.domain.urls import url_uid, with_part
from feedcrawl.hints import program
from feedcrawl.items import ComparedEntries
from feedcrawl.services.subscriptions.journal import migration_undone_line
from feedcrawl.services.subscriptions.polling import entry_values
from feedcrawl.services.subscriptions.registering import poll_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from feedcrawl.domain.entries.identity import Identified
    from feedcrawl.domain.entries.lineage import KnownEntry
    from feedcrawl.domain.entries.records import EntryEvent, EntryRawRefs, EntryRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.items import FeedPoll
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.client import Pipeline
    from feedcrawl.store.subscriptions.entries import Entries
    from feedcrawl.store.subscriptions.registry import Registry

logger = logging.getLogger(__name__)


def compare(poll: FeedPoll, store: Entries) -> FeedPoll:
    """The poll with its entries sorted into new, changed, edited and known. Two or three round trips; nothing is
    written.
    """
    found = poll.received.identified
    keys = list(dict.fromkeys(key for entry in found for key in entry.every_key))
    aliases, known = store.load(poll.feed.id, keys)
    quality, now = _quality(poll.feed.polls.ids), poll.received.at
    recognition = recognise(found, known, aliases, quality=quality, now=now)
    if recognition.migrated:
        known = {each.uid: each for each in store.lineages(poll.feed.id)}
        recognition = recognise(found, known, aliases, quality=quality, now=now)
    sightings = recognition.sightings
    if poll.requested.is_archive:  # an archive may hold an older version of a known entry (RFC 5005 section 4)
        sightings = tuple(sighting for sighting in sightings if sighting.verdict == "new")
    elif poll.requested.is_delivery:  # hubs repeat and reorder
        sightings = tuple(_still_true(sightings, known))
    by_verdict: dict[str, list[RecognisedEntry]] = {"new": [], "changed": [], "edited": [], "known": []}
    for sighting in sightings:
        by_verdict[sighting.verdict].append(sighting)
    by_entry = {id(each.entry): each for each in found}
    parts = parts_of(each.entry.link for each in found)
    compared = ComparedEntries(
        new=tuple(_entry(poll, sighting, parts) for sighting in by_verdict["new"]),
        changed=tuple(_entry(poll, sighting, parts) for sighting in by_verdict["changed"]),
        edited=tuple(_entry(poll, sighting, parts) for sighting in by_verdict["edited"]),
        known=len(recognition.sightings) - len(by_verdict["new"]) - len(by_verdict["changed"]),
        over_limit=recognition.over_limit,
        sightings=sightings,
        identity=recognition.quality.to_record(),
        migrated=recognition.migrated,
        waits=any(_waits(sighting, by_entry[id(sighting.entry)]) for sighting in sightings),
    )
    if _is_strange(poll, compared):
        return _dismissed(poll)
    deleted: tuple[KnownEntry, ...] = ()
    if _has_all_entries(poll, compared):
        present = {sighting.uid for sighting in recognition.sightings}
        deleted = withdrawn(store.lineages(poll.feed.id), present, poll.received.at)
    entries = replace(compared, deleted=deleted, possibly_missed=possibly_missed(poll, compared))
    return replace(poll, found=replace(poll.found, entries=entries))


def possibly_missed(poll: FeedPoll, found: ComparedEntries) -> bool:
    """True if entries may have come and gone since the last poll: none of the entries shown then is left."""
    overlap = found.known or found.changed or found.migrated
    return bool(
        found.new
        and not overlap
        and not (poll.requested.is_archive or poll.requested.is_delivery)
        and poll.feed.polls.shown
    )


def _has_all_entries(poll: FeedPoll, compared: ComparedEntries) -> bool:
    """True if an entry that is not in the document is no longer in the feed. An empty or truncated document deletes
    nothing: both are faults.
    """
    if (
        poll.received.parsed is None
        or not poll.received.parsed.paging.complete
        or poll.received.parsed.is_truncated
        or poll.requested.is_archive
        or poll.requested.is_delivery
        or compared.over_limit
    ):
        return False
    return 0 < len(poll.received.parsed.entries) < MAX_ENTRIES


def _is_strange(poll: FeedPoll, compared: ComparedEntries) -> bool:
    """True if a permanent redirect has led to another feed, whose entries are no news of this one."""
    if poll.feed.polls.last_success_at is None or not poll.feed.polls.shown:
        return False
    before, url = move_from(poll.feed.polls.moving), poll.feed.subscription.url
    shared = compared.known + len(compared.changed)
    return is_strange(before, poll.received.moved_to, url=url, shared=shared, entries=len(poll.received.identified))


def _dismissed(poll: FeedPoll) -> FeedPoll:
    """The poll that found a stranger's feed, as failed: nothing of the document is stored or announced."""
    received = poll.received
    detail = (
        f"{received.moved_to} shows {len(received.identified)} entries, none of which the feed had before; "
        f"`{program()} feeds move` makes it the feed's address"
    )
    none = replace(received, parsed=None, digest=None, identified=(), hints=None, topic=None)
    return replace(poll, received=none).judged(detail, "strange_feed")


def _still_true(sightings: Iterable[RecognisedEntry], known: Mapping[str, KnownEntry]) -> Iterator[RecognisedEntry]:
    for each in sightings:
        before = known.get(each.uid)
        if before is None or not before.outdates(each.entry.updated or each.entry.published):
            yield each


def _waits(sighting: RecognisedEntry, identified: Identified) -> bool:
    """True if an entry differs from its last reported version, and will be reported when that is due."""
    known = sighting.lineage
    differs = known.differs(content_hash=identified.content_hash, edited=identified.edited)
    return sighting.verdict == "known" and differs and known.revisions < MAX_TEXT_REVISIONS


def save(poll: FeedPoll, store: Entries, pipe: Pipeline) -> None:
    """Queue the lineages. Must come after the tasks and events of new entries: known entries are not enqueued
    again.
    """
    lineages = {sighting.uid: sighting.lineage for sighting in poll.found.entries.sightings}
    if poll.received.parsed is not None and poll.received.parsed.paging.complete:
        lineages = {each.uid: _with_article(poll, each) for each in poll.found.entries.sightings}
        lineages |= {each.uid: each for each in poll.found.entries.deleted}
    aliases = {key: sighting.uid for sighting in poll.found.entries.sightings for key in sighting.aliases}
    store.save(pipe, poll.feed.id, lineages, aliases)
    moved = {each.formerly: each.aliases for each in poll.found.entries.sightings if each.formerly is not None}
    if moved:
        store.keep_migration(pipe, poll.feed.id, moved)


def _with_article(poll: FeedPoll, sighting: RecognisedEntry) -> KnownEntry:
    if poll.feed.subscription.entries_only or (sighting.verdict == "known" and sighting.lineage.article is not None):
        return sighting.lineage
    values = entry_values(sighting.entry, poll.requested.sources, poll.feed.subscription.source)
    return replace(sighting.lineage, article=values["article_uid"])


def entry_events(poll: FeedPoll) -> list[Event]:
    """The events new_entry, entry_updated and entry_deleted; the id of an update names the version."""
    at = rfc3339(poll.received.at)
    events = [event("new_entry", f"{e['feed_id']}:{e['entry_uid']}", entry_data(e, at)) for e in poll.found.entries.new]
    events += [
        event("entry_updated", f"{e['feed_id']}:{e['entry_uid']}:{e['content_hash'][:16]}", entry_data(e, at))
        for e in poll.found.entries.changed
    ]
    return events + [_deletion(poll.feed.id, each, at) for each in poll.found.entries.deleted]


def _deletion(feed_id: str, entry: KnownEntry, at: str) -> Event:
    data = {
        "entry_uid": entry.uid,
        "feed_id": feed_id,
        "article_uid": entry.article,
        "content_hash": entry.content_hash,
        "last_seen": rfc3339(entry.last_seen),
        "deleted_at": at,
    }
    return event("entry_deleted", f"{feed_id}:{entry.uid}:{entry.seen_count}", data)


def entry_data(entry: EntryRecord, at: str) -> EntryEvent:
    """The data of an entry's event."""
    return {
        "entry_uid": entry["entry_uid"],
        "feed_id": entry["feed_id"],
        "published": entry["published"],
        "canonical_link": entry["canonical_link"],
        "title": entry["title"],
        "article_uid": entry["article_uid"],
        "content_hash": entry["content_hash"],
        "raw_refs": [{"fetch_id": ref["fetch_id"]} for ref in entry["raw_refs"]],
        "ingested_at": at,
    }


def undo_migration(registry: Registry, store: Entries, frontier: Frontier, feed: Feed, now: datetime) -> None:
    """Separate the entries that a migration found again from their new names: the next poll, due at once, brings them
    as new, and no later migration of this feed is believed. Raises Refusal (`never_migrated`) if none is stored.
    """
    if not store.undo_migration(feed.id):
        raise Refusal("never_migrated", f"{feed.subscription.url} has no migration of the last 30 days to undo")
    ids = replace(_quality(feed.polls.ids), migrates=False).to_record()
    polls = replace(feed.polls, etag=None, last_modified=None, body_hash=None, digest=None, ids=ids)
    registry.move(feed.subscription, polls, migration_undone_line(feed, now))
    poll_now(frontier, [feed])
    logger.info("migration_undone", extra={"feed_id": feed.id, "url": feed.subscription.url})


def _entry(poll: FeedPoll, sighting: RecognisedEntry, parts: Mapping[str, str]) -> EntryRecord:
    known = sighting.lineage
    values = entry_values(sighting.entry, poll.requested.sources, poll.feed.subscription.source)
    part = parts.get(sighting.entry.link or "", "")
    if part and sighting.entry.link is not None and values["canonical_link"] is not None:
        keep = poll.requested.sources.keeps_trailing_slash(sighting.entry.link, poll.feed.subscription.source)
        values["canonical_link"] = with_part(values["canonical_link"], part)
        values["article_uid"] = url_uid(sighting.entry.link, keep_trailing_slash=keep, part=part)
    if poll.feed.subscription.entries_only:
        values["article_uid"] = None
    raw_ref: EntryRawRefs = {"fetch_id": poll.received.fetch_id or "", "offset": None, "length": None, "note": None}
    record = {
        "entry_uid": known.uid,
        "feed_id": poll.feed.id,
        "feed_url": poll.feed.subscription.url,
        **values,
        "first_seen": rfc3339(known.first_seen),
        "last_seen": rfc3339(known.last_seen),
        "seen_count": known.seen_count,
        "content_hash": known.content_hash,
        "raw_refs": [raw_ref] if poll.received.fetch_id else [],
        "revision": known.revisions + 1,
        "files": [],
        "type": "entry",
    }
    return cast("EntryRecord", record)


def _quality(stored: Mapping[str, object] | None) -> IdQuality:
    return IdQuality(**known_fields(IdQuality, stored)) if stored else IdQuality()
