"""Entries as other programs read them.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, TypedDict

from feedcrawl.domain.articles.page_records import FileState
from feedcrawl.domain.schemas import (
    About,
    Count,
    Positive,
    Sha256,
    Time,
    Uid,
    Uuid,
    WebUrl,
    record,
)


class EntryAuthors(TypedDict):
    """The part `authors` of a record."""

    name: Annotated[str | None, About("As published")]
    email: Annotated[str | None, About("As published; null with `FEEDCRAWL_REDACT_EMAILS`")]
    uri: Annotated[str | None, About("As published")]


class EntryEnclosures(TypedDict):
    """The part `enclosures` of a record."""

    url: Annotated[str, About("As published, made absolute")]
    type: Annotated[str | None, About("Media type as published")]
    length: Annotated[Count | None, About("Bytes as published")]


class EntryRawRefs(TypedDict):
    """The part `raw_refs` of a record."""

    fetch_id: Annotated[Uuid, About("Names the exchange in the archive that showed the entry")]
    offset: Annotated[Count | None, About("Always null: the exchange is kept whole")]
    length: Annotated[Count | None, About("Always null")]
    note: Annotated[str | None, About("Always null")]


@record("entry", "Entry")
class EntryRecord(TypedDict):
    """One version of one entry of a feed: a line of entries/<day>.ndjson."""

    type: Annotated[Literal["entry"], About("Tells records apart where files are joined")]
    entry_uid: Annotated[
        str,
        About(
            "The entry's name within its feed: its own id where the feed's ids can be trusted, else its link,"
            " else a digest. Two feeds may use the same one",
            minLength=1,
            maxLength=512,
        ),
    ]
    feed_id: Annotated[Uuid, About("The feed")]
    feed_url: Annotated[WebUrl, About("The feed's subscribed URL")]
    article_uid: Annotated[
        Uid | None,
        About("The article behind the link, as its uid is before the page is fetched; null without a usable link"),
    ]
    link: Annotated[str | None, About("The link, absolute, otherwise as published")]
    canonical_link: Annotated[str | None, About("The link in canonical form")]
    title: Annotated[str | None, About("One line of text")]
    summary: Annotated[str | None, About("HTML or text as published")]
    content: Annotated[str | None, About("HTML or text as published, where the feed has more than a summary")]
    authors: Annotated[list[EntryAuthors], About("Each with what is known")]
    categories: Annotated[list[str], About("The publisher's own labels")]
    enclosures: Annotated[list[EntryEnclosures], About("Media that belong to the entry")]
    published: Annotated[Time | None, About("When the publisher says it appeared")]
    updated: Annotated[Time | None, About("When the publisher says it changed")]
    published_raw: Annotated[str | None, About("The date as written, also where it could not be read")]
    language: Annotated[str | None, About("Language tag as published")]
    image: Annotated[str | None, About("URL of the entry's picture")]
    first_seen: Annotated[Time, About("When we first met it")]
    last_seen: Annotated[Time, About("When we last met it")]
    seen_count: Annotated[Positive, About("Polls that showed it")]
    content_hash: Annotated[
        Sha256, About("SHA-256 of title, summary and content without markup; changes with what a reader sees")
    ]
    revision: Annotated[Positive, About("1 for a new entry, one more at each change")]
    raw_refs: Annotated[list[EntryRawRefs], About("Where its bytes lie in the archive")]
    raw: Annotated[str | None, About("The entry's own markup as published, where it is known")]
    files: Annotated[
        list[FileState],
        About("Media files, where FEEDCRAWL_MEDIA_FILES is on; what is pending here is told by `files/`"),
    ]


class NewEntryRawRefs(TypedDict):
    """The part `raw_refs` of a record."""

    fetch_id: Annotated[Uuid, About("The exchange")]


@record("new_entry", "new_entry")
class NewEntryRecord(TypedDict):
    """An entry that its feed had not shown before. Event id: new_entry:<feed_id>:<entry_uid>."""

    entry_uid: Annotated[str, About("The entry within its feed", minLength=1)]
    feed_id: Annotated[Uuid, About("The feed")]
    published: Annotated[Time | None, About("When the publisher says it appeared")]
    canonical_link: Annotated[str | None, About("The link in canonical form")]
    title: Annotated[str | None, About("One line of text")]
    article_uid: Annotated[Uid | None, About("The article behind the link, as its uid is before the page is fetched")]
    content_hash: Annotated[Sha256, About("SHA-256 of what a reader sees")]
    raw_refs: Annotated[list[NewEntryRawRefs], About("Where its bytes lie in the archive")]
    ingested_at: Annotated[Time, About("When the poll happened")]


@record("entry_updated", "entry_updated")
class EntryUpdatedRecord(TypedDict):
    """A known entry whose title, summary or content changed. Event id:
    entry_updated:<feed_id>:<entry_uid>:<content_hash[:16]>.
    """

    entry_uid: Annotated[str, About("The entry within its feed", minLength=1)]
    feed_id: Annotated[Uuid, About("The feed")]
    published: Annotated[Time | None, About("When the publisher says it appeared")]
    canonical_link: Annotated[str | None, About("The link in canonical form")]
    title: Annotated[str | None, About("One line of text")]
    article_uid: Annotated[Uid | None, About("The article behind the link, as its uid is before the page is fetched")]
    content_hash: Annotated[Sha256, About("SHA-256 of what a reader sees")]
    raw_refs: Annotated[list[NewEntryRawRefs], About("Where its bytes lie in the archive")]
    ingested_at: Annotated[Time, About("When the poll happened")]
