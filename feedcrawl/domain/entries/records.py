"""The records of entries that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

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

    fetch_id: Annotated[Uuid, About("The request and response in the archive that contain the entry")]
    offset: Annotated[Count | None, About("Always null: the archive holds the whole response")]
    length: Annotated[Count | None, About("Always null")]
    note: Annotated[str | None, About("Always null")]


class EntryValues(TypedDict):
    """The fields of an entry that its publisher wrote."""

    canonical_link: str | None
    article_uid: str | None
    link: str | None
    title: str | None
    summary: str | None
    content: str | None
    authors: list[EntryAuthors]
    categories: list[str]
    enclosures: list[EntryEnclosures]
    published: str | None
    updated: str | None
    published_raw: str | None
    language: str | None
    image: str | None
    raw: str | None


@record("entry", "Entry")
class EntryRecord(TypedDict):
    """One version of one entry of a feed: a line of entries/<day>.ndjson."""

    type: Annotated[Literal["entry"], About("Kind of the record, for files that hold several kinds")]
    entry_uid: Annotated[
        str,
        About(
            "The entry's name within its feed: its own id if the feed's ids can be trusted, else its link,"
            " else a digest. Not unique across feeds",
            minLength=1,
            maxLength=512,
        ),
    ]
    feed_id: Annotated[Uuid, About("The feed")]
    feed_url: Annotated[WebUrl, About("The feed's subscribed URL")]
    article_uid: Annotated[
        Uid | None,
        About("The article's uid as computed from the link, before the page is fetched; null without a usable link"),
    ]
    link: Annotated[str | None, About("The link, absolute, otherwise as published")]
    canonical_link: Annotated[
        str | None, About("The link in canonical form; with its fragment if several entries are parts of that page")
    ]
    title: Annotated[str | None, About("One line of [plain text](#titles)")]
    summary: Annotated[str | None, About("HTML or text as published")]
    content: Annotated[str | None, About("HTML or text as published; null if the feed has only a summary")]
    authors: Annotated[list[EntryAuthors], About("Authors; unknown fields are null")]
    categories: Annotated[list[str], About("The publisher's own labels")]
    enclosures: Annotated[list[EntryEnclosures], About("Media files of the entry")]
    published: Annotated[Time | None, About("Publisher's date of publication")]
    updated: Annotated[Time | None, About("Publisher's date of the last change")]
    published_raw: Annotated[str | None, About("The date of publication as written, even if it cannot be parsed")]
    language: Annotated[str | None, About("Language tag as published")]
    image: Annotated[str | None, About("URL of the entry's image")]
    first_seen: Annotated[Time, About("First poll that showed the entry")]
    last_seen: Annotated[Time, About("Last poll that showed the entry; unchanged documents do not count")]
    seen_count: Annotated[Positive, About("Number of polls that showed the entry; unchanged documents do not count")]
    deleted_at: NotRequired[Annotated[Time, About("Time at which a complete feed had the entry no longer")]]
    content_hash: Annotated[
        Sha256, About("SHA-256 of title, summary and content without markup; changes when the visible text changes")
    ]
    revision: Annotated[Positive, About("1 for a new entry; rises by one at each change")]
    raw_refs: Annotated[list[EntryRawRefs], About("Places of the entry in the archive")]
    raw: Annotated[str | None, About("The entry's markup as published; null if unknown")]
    files: Annotated[
        list[FileState],
        About("Media files, if FEEDCRAWL_MEDIA_FILES is on; the final state of a pending file is in `files/`"),
    ]


class NewEntryRawRefs(TypedDict):
    """The part `raw_refs` of a record."""

    fetch_id: Annotated[Uuid, About("The request and response in the archive")]


class EntryEvent(TypedDict):
    """An event about an entry."""

    entry_uid: Annotated[str, About("The entry's name within its feed", minLength=1)]
    feed_id: Annotated[Uuid, About("The feed")]
    published: Annotated[Time | None, About("Publisher's date of publication")]
    canonical_link: Annotated[str | None, About("The link in canonical form")]
    title: Annotated[str | None, About("One line of [plain text](#titles)")]
    article_uid: Annotated[Uid | None, About("The article's uid as computed from the link, before the page is fetched")]
    content_hash: Annotated[Sha256, About("SHA-256 of the visible text")]
    raw_refs: Annotated[list[NewEntryRawRefs], About("Places of the entry in the archive")]
    ingested_at: Annotated[Time, About("Time of the poll")]


@record("new_entry", "new_entry")
class NewEntryRecord(EntryEvent):
    """An entry that its feed had not shown before. Event id: new_entry:<feed_id>:<entry_uid>."""


@record("entry_updated", "entry_updated")
class EntryUpdatedRecord(EntryEvent):
    """A known entry whose title, summary or content changed. Event id:
    entry_updated:<feed_id>:<entry_uid>:<content_hash[:16]>.
    """


@record("entry_deleted", "entry_deleted")
class EntryDeletedRecord(TypedDict):
    """A feed whose document has all of its entries (`fh:complete`, RFC 5005 section 2) has an entry no longer. An entry
    that comes back is an entry_updated. Event id: entry_deleted:<feed_id>:<entry_uid>:<seen_count>.
    """

    entry_uid: Annotated[str, About("The entry's name within its feed", minLength=1)]
    feed_id: Annotated[Uuid, About("The feed")]
    article_uid: Annotated[Uid | None, About("The article's uid as computed from the link; null without a link")]
    content_hash: Annotated[Sha256, About("SHA-256 of the visible text of the last version")]
    last_seen: Annotated[Time, About("Last poll that showed the entry; unchanged documents do not count")]
    deleted_at: Annotated[Time, About("Time of the poll that did not show it")]
