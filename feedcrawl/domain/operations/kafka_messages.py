"""Events as Kafka messages: the kinds of events that are sent, and their topic, key and fields.

`webpage_fetched` is sent as WebpageEvent and `new_entry` as NewEntry, with exactly the fields of these models. The key
is the sha256 of the URL in hex, so that all messages about a page are in one partition, in order. The header `id` has
the event's id, by which a consumer recognises a repetition; the header `traceparent` has the trace.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from feedcrawl.domain.operations.events import Unprocessable

if TYPE_CHECKING:
    from collections.abc import Mapping

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(min_length=1)]


class Model(BaseModel):
    """A message with exactly these fields, each of exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WebpageEvent(Model):
    """A page that was fetched; if `cache_key` is not empty, Redis has the page's HTML under this key."""

    type: Literal["webpage_fetched"] = "webpage_fetched"
    url: Name
    cache_key: str
    status_code: Annotated[int, Field(ge=100, le=599)]
    content_type: str | None
    content_length: Annotated[int, Field(ge=0)]
    content_hash: Sha256
    fetched_at: AwareDatetime


class RawRef(Model):
    """A reference to a request and its response in the raw archive."""

    fetch_id: Name


class NewEntry(Model):
    """An entry that its feed shows for the first time."""

    entry_uid: Name
    feed_id: Name
    published: AwareDatetime | None
    canonical_link: str | None
    raw_refs: tuple[RawRef, ...]
    ingested_at: AwareDatetime


KINDS: Final[Mapping[str, type[WebpageEvent | NewEntry]]] = {"webpage_fetched": WebpageEvent, "new_entry": NewEntry}
"""Types of events that are sent to Kafka."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a topic; `id` is the event's, `traceparent` the span that caused the event, if tracing is on."""

    topic: str
    key: bytes
    value: bytes
    id: str
    traceparent: str | None = None


def message_of(event: Mapping[str, str], topics: Mapping[str, str]) -> Message | Unprocessable | None:
    """The Kafka message of an event with the fields `type`, `id` and `data`; None if its type is not sent to Kafka.

    `topics` has the topic of each of `KINDS`. An event that was deleted from the stream has no fields: Unprocessable
    (`gone`).
    """
    if not event:
        return Unprocessable("gone", "the entry was deleted from the stream before it was sent")
    kind = event.get("type", "")
    if kind not in KINDS:
        return None
    if not event.get("id"):
        return Unprocessable("no_id", "the event has no id, so that consumers could not recognise a repetition")
    try:
        data = json.loads(event.get("data", ""))
        model = KINDS[kind].model_validate_json(json.dumps(_of_topic(kind, data)))
        value = model.model_dump_json().encode()
        return Message(topics[kind], _key(model), value, event["id"], event.get("traceparent"))
    except ValidationError as error:
        return Unprocessable("bad_fields", _first(error))
    except (ValueError, RecursionError) as error:
        return Unprocessable("bad_json", str(error)[:200])


def _of_topic(kind: str, data: object) -> object:
    """The fields of the event that the topic's model has. A new entry has more in the stream, a page exactly these."""
    if kind != "new_entry" or not isinstance(data, dict):
        return data
    return {name: value for name, value in data.items() if name in NewEntry.model_fields}


def _key(model: WebpageEvent | NewEntry) -> bytes:
    if isinstance(model, WebpageEvent):
        named = model.url
    else:
        named = model.canonical_link or f"{model.feed_id}:{model.entry_uid}"
    return hashlib.sha256(named.encode()).hexdigest().encode()


def _first(error: ValidationError) -> str:
    """Place and kind of the first error, without the wrong value, which may be long."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, wrong['loc'])) or 'data'}: {wrong['msg']}"[:200]
