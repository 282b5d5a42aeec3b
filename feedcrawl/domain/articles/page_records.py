"""The page records and media files that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from feedcrawl.domain.schemas import About, Count, FilePlace, MediaType, Positive, Sha256, Time, Uid, WebUrl, record

PageError = Literal["E_INGEST_TIMEOUT", "E_INGEST_FAILED", "E_SANITIZATION_FAILED"]


class MediaRevisions(TypedDict):
    """The part `revisions` of a record."""

    content_hash: Annotated[Sha256, About("SHA-256 of the text")]
    at: Annotated[str, About("Time of its fetch", format="date-time")]


class MediaCapabilities(TypedDict):
    """The readers' permissions: all of them once the article is stored, none before."""

    can_read: Annotated[bool, About("True if there are fragments to read")]
    can_highlight: Annotated[bool, About("True if passages can be highlighted")]
    can_quote: Annotated[bool, About("True if passages can be quoted")]


class MediaFragments(TypedDict):
    """The part `fragments` of a record."""

    idx: Annotated[int, About("Always 0: a single part with the whole text")]
    html_sanitized: Annotated[str, About("As content_html of the article")]
    canonical_text: Annotated[str, About("As clean_text of the article")]


@record("media", "Media")
class MediaRecord(TypedDict):
    """The page record of a URL that was requested or found in a feed."""

    media_id: Annotated[str, About("UUIDv5 of the uid", format="uuid")]
    uid: Annotated[Uid, About("The uid of the requested URL")]
    requested_url: Annotated[str, About("The requested URL")]
    created_at: Annotated[str, About("Creation of the record", format="date-time")]
    updated_at: Annotated[str, About("Last change of the record", format="date-time")]
    processing_status: Annotated[
        Literal["pending", "extracting", "ready_for_reading", "failed", "duplicate"], About("State of the record")
    ]
    canonical_url: Annotated[str | None, About("The article's canonical URL; null until it is stored")]
    processing_attempts: Annotated[Count, About("Number of attempts that count, over all rounds")]
    processing_started_at: Annotated[str | None, About("Start of the last attempt", format="date-time")]
    processing_completed_at: Annotated[
        str | None, About("Time at which the article was last stored; null if it never was", format="date-time")
    ]
    failed_at: Annotated[str | None, About("Time of the last final failure", format="date-time")]
    failure_stage: Annotated[str | None, About("Always extract")]
    last_error_code: Annotated[
        PageError | None,
        About("E_INGEST_TIMEOUT, E_INGEST_FAILED or E_SANITIZATION_FAILED; null after a success"),
    ]
    last_error_message: Annotated[str | None, About("Failure code, reason code and description; null after a success")]
    duplicate_of: Annotated[
        str | None, About("The media_id of the article that this one was merged into", format="uuid")
    ]
    content_hash: Annotated[Sha256 | None, About("SHA-256 of the current version's text")]
    revisions: Annotated[list[MediaRevisions], About("Versions of the article, newest first, at most 20")]
    request_id: Annotated[
        str | None, About("X-Request-ID of the request that first requested the URL; null if it came from a feed")
    ]
    duplicate: Annotated[bool, About("True if the article was merged into that of duplicate_of")]
    capabilities: Annotated[
        MediaCapabilities, About("The readers' permissions: all of them once the article is stored, none before")
    ]
    fragments: Annotated[
        list[MediaFragments], About("The version's parts, which never change; empty if the text is no longer stored")
    ]


class KeptFile(TypedDict):
    """The content of a media file, or the reason why there is none."""

    reason: Annotated[
        str | None,
        About(
            "Reason code of the failure: `too_large`, `unsupported_type`, `type_mismatch`, `empty`, `http_404`, "
            "`robots_blocked`, `address_refused`, …; null unless failed"
        ),
    ]
    sha256: Annotated[Sha256 | None, About("SHA-256 of the content; null unless stored")]
    content_type: Annotated[MediaType | None, About("Media type by the first bytes, else as declared by the server")]
    size_bytes: Annotated[Positive | None, About("Bytes of the content")]
    path: Annotated[FilePlace | None, About("Path below the data directory of that machine")]
    machine: Annotated[str | None, About("Host name of the machine whose data directory has the file")]


class EndedFile(TypedDict):
    """The file that a line of files/<day>.ndjson is about."""

    type: Annotated[Literal["file"], About("Kind of the record, for files that hold several kinds")]
    url: Annotated[WebUrl, About("The file's URL, as in the records that name it")]
    status: Annotated[Literal["stored", "failed"], About("State of the file")]


@record("file", "File")
class FileRecord(EndedFile, KeptFile):
    """The final state of a media file: a line of files/<day>.ndjson. The last line of a URL counts."""

    ended_at: Annotated[str, About("Time at which the file was stored or refused", format="date-time")]


class NamedFile(TypedDict):
    """The file that an entry or article names."""

    url: Annotated[str, About("The requested URL: absolute, without fragment; as published if that is no URL")]
    role: Annotated[Literal["enclosure", "image"], About("An enclosure of the entry, or the article's image")]
    status: Annotated[Literal["pending", "stored", "failed"], About("`pending` until the file was fetched or refused")]


class FileState(NamedFile, KeptFile):
    """A media file of an entry or article, in its state at the time of the record."""


class PostRecord(TypedDict):
    """One post of a thread."""

    text: Annotated[str, About("Text of the post: one line for each block, white space folded")]
    author: NotRequired[Annotated[str, About("Name of the author or of the account")]]
    published: NotRequired[Annotated[Time, About("The day or instant of the post")]]
