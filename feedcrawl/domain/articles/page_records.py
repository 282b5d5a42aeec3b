"""Page records and media files as other programs read them.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, TypedDict

from feedcrawl.domain.schemas import About, Count, FilePlace, MediaType, Positive, Sha256, Uid, WebUrl, record


class MediaRevisions(TypedDict):
    """The part `revisions` of a record."""

    content_hash: Annotated[Sha256, About("SHA-256 of the text")]
    at: Annotated[str, About("When it was read", format="date-time")]


class MediaCapabilities(TypedDict):
    """What can be done with it: all once its text is there, nothing before."""

    can_read: Annotated[bool, About("Whether there are fragments to read")]
    can_highlight: Annotated[bool, About("Whether places in them can be marked")]
    can_quote: Annotated[bool, About("Whether they can be quoted")]


class MediaFragments(TypedDict):
    """The part `fragments` of a record."""

    idx: Annotated[int, About("Always 0: one part, of the whole")]
    html_sanitized: Annotated[str, About("As content_html of the article")]
    canonical_text: Annotated[str, About("As clean_text of the article")]


@record("media", "Media")
class MediaRecord(TypedDict):
    """What became of an article that was asked for or found."""

    media_id: Annotated[str, About("UUIDv5 of the uid: the same wherever it is computed", format="uuid")]
    uid: Annotated[Uid, About("The article's uid, as it was asked for")]
    requested_url: Annotated[str, About("The URL as it was asked for")]
    created_at: Annotated[str, About("When the record was made", format="date-time")]
    updated_at: Annotated[str, About("When it changed last", format="date-time")]
    processing_status: Annotated[
        Literal["pending", "extracting", "ready_for_reading", "failed", "duplicate"], About("Where it is")
    ]
    canonical_url: Annotated[str | None, About("The URL that names the article, once it is read")]
    processing_attempts: Annotated[Count, About("Attempts that counted, over all rounds")]
    processing_started_at: Annotated[str | None, About("When the last attempt began", format="date-time")]
    processing_completed_at: Annotated[
        str | None, About("When it was last read; null as long as it never was", format="date-time")
    ]
    failed_at: Annotated[str | None, About("When it last failed for good", format="date-time")]
    failure_stage: Annotated[str | None, About("Always extract")]
    last_error_code: Annotated[
        Literal["E_INGEST_TIMEOUT", "E_INGEST_FAILED", "E_SANITIZATION_FAILED"] | None,
        About("E_INGEST_TIMEOUT, E_INGEST_FAILED or E_SANITIZATION_FAILED; null after a success"),
    ]
    last_error_message: Annotated[str | None, About("Failure code, reason code and a detail; null after a success")]
    duplicate_of: Annotated[str | None, About("The media_id of the article that it joined", format="uuid")]
    content_hash: Annotated[Sha256 | None, About("SHA-256 of the text of its version")]
    revisions: Annotated[list[MediaRevisions], About("Its versions, newest first, at most 20")]
    request_id: Annotated[
        str | None, About("X-Request-ID of the request that first asked for it; null where a feed brought it")
    ]
    duplicate: Annotated[bool, About("Whether its article is that of duplicate_of")]
    capabilities: Annotated[
        MediaCapabilities, About("What can be done with it: all once its text is there, nothing before")
    ]
    fragments: Annotated[
        list[MediaFragments], About("The version's parts, which never change; empty where the text is no longer kept")
    ]


@record("file", "File")
class FileRecord(TypedDict):
    """What has become of a media file: a line of files/<day>.ndjson. Of several of one URL the last counts."""

    type: Annotated[Literal["file"], About("Tells records apart where files are joined")]
    url: Annotated[WebUrl, About("As in the records that name it")]
    status: Annotated[Literal["stored", "failed"], About("Whether it is there")]
    reason: Annotated[
        str | None,
        About(
            "Why there is no file: `too_large`, `unsupported_type`, `type_mismatch`, `empty`, `http_404`, "
            "`robots_blocked`, `address_refused`, … Null unless failed"
        ),
    ]
    sha256: Annotated[Sha256 | None, About("Of its content; null unless stored")]
    content_type: Annotated[MediaType | None, About("What its first bytes show, else as the server said")]
    size_bytes: Annotated[Positive | None, About("Of its content")]
    path: Annotated[FilePlace | None, About("Under the data directory of that machine")]
    machine: Annotated[str | None, About("Whose data directory has it")]
    ended_at: Annotated[str, About("When it was stored or refused", format="date-time")]


class FileState(TypedDict):
    """A media file of an entry or article, as known when the record was written."""

    url: Annotated[str, About("As asked for: absolute, without fragment; as published where that is no URL")]
    role: Annotated[Literal["enclosure", "image"], About("Whether the entry encloses it, or it is the article's image")]
    status: Annotated[Literal["pending", "stored", "failed"], About("`pending` until it has been fetched or refused")]
    reason: Annotated[
        str | None,
        About(
            "Why there is no file: `too_large`, `unsupported_type`, `type_mismatch`, `empty`, `http_404`, "
            "`robots_blocked`, `address_refused`, … Null unless failed"
        ),
    ]
    sha256: Annotated[Sha256 | None, About("Of its content; null unless stored")]
    content_type: Annotated[MediaType | None, About("What its first bytes show, else as the server said")]
    size_bytes: Annotated[Positive | None, About("Of its content")]
    path: Annotated[FilePlace | None, About("Under the data directory of that machine")]
    machine: Annotated[str | None, About("Whose data directory has it")]
