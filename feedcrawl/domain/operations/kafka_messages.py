"""Events as Kafka gets them: which of them, to which topic, under which key, in exactly which shape.

`webpage_fetched` goes as WebpageEvent and `new_entry` as NewEntry; the models allow nothing else and nothing more. The
key is sha256 of the URL in hex, so all that is told of one page is in one partition, in order; the event's id goes as
the header `id`, so that a consumer can tell a repetition, and a trace as `traceparent`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(min_length=1)]


class Model(BaseModel):
    """No field more than these, and none of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WebpageEvent(Model):
    """A page that was fetched; its HTML is under `cache_key` in Redis, if that is not empty."""

    type: Literal["webpage_fetched"] = "webpage_fetched"
    url: Name
    cache_key: str
    status_code: Annotated[int, Field(ge=100, le=599)]
    content_type: str | None
    content_length: Annotated[int, Field(ge=0)]
    content_hash: Sha256
    fetched_at: AwareDatetime


class RawRef(Model):
    """An exchange in the archive."""

    fetch_id: Name


class NewEntry(Model):
    """An entry that its feed had not shown before."""

    entry_uid: Name
    feed_id: Name
    published: AwareDatetime | None
    canonical_link: str | None
    raw_refs: tuple[RawRef, ...]
    ingested_at: AwareDatetime


KINDS: Final[Mapping[str, type[WebpageEvent | NewEntry]]] = {"webpage_fetched": WebpageEvent, "new_entry": NewEntry}
"""Types of events that Kafka gets."""


@dataclass(frozen=True, slots=True)
class Message:
    """One record of a topic; `id` is the event's, `traceparent` that of the span it comes of, where someone traces."""

    topic: str
    key: bytes
    value: bytes
    id: str
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class Unfit:
    """An event that can never be sent. Reasons: `gone` `no_id` `bad_json` `bad_fields` `too_large`."""

    reason: str
    detail: str = ""


def message_of(event: Mapping[str, str], topics: Mapping[str, str]) -> Message | Unfit | None:
    """What Kafka gets of an event with the fields `type`, `id` and `data`; None where it gets nothing.

    `topics` names the topic of each of `KINDS`. An entry of the stream that someone deleted has no fields.
    """
    if not event:
        return Unfit("gone", "the entry was deleted from the stream before it was sent")
    kind = event.get("type", "")
    if kind not in KINDS:
        return None
    if not event.get("id"):
        return Unfit("no_id", "an event without an id cannot be told from its repetition")
    try:
        said = json.loads(event.get("data", ""))
        model = KINDS[kind].model_validate_json(json.dumps(_of_topic(kind, said)))
        value = model.model_dump_json().encode()
        return Message(topics[kind], _key(model), value, event["id"], event.get("traceparent"))
    except ValidationError as error:
        return Unfit("bad_fields", _first(error))
    except (ValueError, RecursionError) as error:
        return Unfit("bad_json", str(error)[:200])


def _of_topic(kind: str, said: Any) -> Any:
    """The fields of a topic's shape. A new entry has more in the stream, a page has just these."""
    if kind != "new_entry" or not isinstance(said, dict):
        return said
    return {name: value for name, value in said.items() if name in NewEntry.model_fields}


def _key(model: WebpageEvent | NewEntry) -> bytes:
    if isinstance(model, WebpageEvent):
        named = model.url
    else:
        named = model.canonical_link or f"{model.feed_id}:{model.entry_uid}"
    return hashlib.sha256(named.encode()).hexdigest().encode()


def _first(error: ValidationError) -> str:
    """Where the first thing is that is wrong, and what; never the value itself, which may be long."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, wrong['loc'])) or 'data'}: {wrong['msg']}"[:200]
