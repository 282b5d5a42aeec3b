"""The records of the raw archive that other programs read.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, Literal, TypedDict

from feedcrawl.domain.schemas import About, Count, Time, Uuid, WebUrl, record


class RawFetchRefersTo(TypedDict):
    """Set for a revisit record: the earlier exchange that holds its body."""

    fetch_id: Annotated[Uuid, About("The exchange that holds the body")]
    url: Annotated[str, About("Its URL")]
    fetched_at: Annotated[Time, About("Its time")]
    payload_digest: Annotated[str, About("Its digest", pattern="^sha256:[0-9a-f]{64}$")]


@record("raw_fetch", "Raw fetch")
class RawFetchRecord(TypedDict):
    """The place of one exchange in the archive: a line of raw/<day>/<file>.warc.gz.index.ndjson."""

    fetch_id: Annotated[Uuid, About("WARC-Record-ID of the response or revisit record")]
    feed_id: Annotated[Uuid | None, About("The feed; set for a poll")]
    uid: Annotated[
        str | None,
        About(
            "Of a page: the uid under which it was requested; of a sitemap: sitemap:<id>",
            pattern="^([0-9a-f]{16}|sitemap:.+)$",
        ),
    ]
    host: Annotated[str | None, About("Host of the URL")]
    url: Annotated[WebUrl, About("The requested URL")]
    fetched_at: Annotated[
        str,
        About(
            "Time at which the response was complete, UTC",
            pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$",
            format="date-time",
        ),
    ]
    status: Annotated[int, About("HTTP status", minimum=100, maximum=999)]
    machine: Annotated[str, About("Host name of the machine with the file")]
    file: Annotated[str, About("Path below raw/", pattern=r"^\d{4}-\d\d-\d\d/[^/]+\.warc\.gz$")]
    offset: Annotated[Count, About("Start of the response record, in bytes of the compressed file")]
    length: Annotated[Count, About("Compressed bytes of the response record")]
    request_length: Annotated[Count, About("Compressed bytes of the request record, which follows the response record")]
    payload_digest: Annotated[
        str, About("SHA-256 of the body as received, with its content codings", pattern="^sha256:[0-9a-f]{64}$")
    ]
    truncated: Annotated[
        Literal["length", "time", "disconnect", "unspecified"] | None,
        About("Why the body is incomplete (WARC-Truncated); null if it is complete"),
    ]
    outgoing: Annotated[
        str | None, About("Local address or proxy (without credentials) of the request; null if the system chose")
    ]
    refers_to: Annotated[
        RawFetchRefersTo | None, About("Set for a revisit record: the earlier exchange that holds its body")
    ]
