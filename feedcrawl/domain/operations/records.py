"""The envelope of an event, as other programs read it.

The JSON Schemas and the tables of docs/data-format.md are generated from these classes.
"""

from typing import Annotated, NotRequired, TypedDict

from feedcrawl.domain.operations.events import EventType
from feedcrawl.domain.schemas import About, Json, record


@record("event", "Event")
class EventRecord(TypedDict):
    """The fields of an entry of the stream feedcrawl:events."""

    type: Annotated[
        EventType,
        About("Type of the event"),
    ]
    id: Annotated[
        str,
        About("Id of the event, the same when the event is repeated; begins with the type", pattern="^[a-z_]+:"),
    ]
    data: Annotated[Json, About("A JSON object in the shape of the type's schema")]
    traceparent: NotRequired[
        Annotated[
            str,
            About(
                "If tracing is on: the span that caused the event, in the form of W3C Trace Context",
                pattern="^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$",
            ),
        ]
    ]
