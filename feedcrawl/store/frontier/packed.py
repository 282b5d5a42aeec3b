"""The stored form of a task's record; `lua/records.lua` is its twin.

A million tasks wait in a server's memory, so a record is no JSON object with the names of its fields (twice the bytes)
but a text of eleven parts with `SEPARATOR` between them:

1. a letter of the kind, a letter of the origin ("-" for an unknown one), the priority
2. the URL, without `https:` if it begins with `https://`
3. the host, empty if the URL has it before its first slash
4. to 7. parent, depth (empty for 0), source, category
8. the time of discovery in milliseconds
9. the history, empty for a task that was never ended: number of fetches, times of the last fetch and of the last
   change in milliseconds ("=": the same, "-": none), first letter of the status ("-": pending), a space and the reason
10. other fields as a JSON object, and texts that are empty or have control characters
11. the payload as JSON

The id is in the key alone. A record that begins with `{` is a JSON object of an earlier version.
"""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, get_args

from feedcrawl.domain.frontier.tasks import Kind, Origin, StoredTask, Task, compact, valid_utf8

if TYPE_CHECKING:
    from collections.abc import Iterable

SEPARATOR = "\x1f"
# Letters by place in the type: a new kind or origin is added at the end, or stored records would be read as another.
_KINDS = dict(zip(get_args(Kind), string.ascii_lowercase, strict=False))
_ORIGINS = dict(zip(get_args(Origin), string.ascii_lowercase, strict=False))
_KIND_OF = {letter: kind for kind, letter in _KINDS.items()}
_ORIGIN_OF = {letter: origin for origin, letter in _ORIGINS.items()}
_STATUS_OF = {"f": "fetched", "d": "dead", "m": "moved"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"[a-zA-Z]+://([^/?#]+)")


def codes() -> str:
    """The letters of kinds and origins, in both directions, as a line of Lua."""
    tables = (("kinds", _KINDS), ("kind_of", _KIND_OF), ("origins", _ORIGINS), ("origin_of", _ORIGIN_OF))
    rows = (f"{name} = {{{', '.join(f'{key} = {value!r}' for key, value in row.items())}}}" for name, row in tables)
    return f"local CODES = {{{', '.join(rows)}}}\n"


def packed(task: Task) -> tuple[str, str]:
    """A new task's record: the parts before the time of discovery, and those after."""
    record = task.to_record()
    payload = record.get("payload", "")
    front = f"{_KINDS.get(task.kind, '-')}{_ORIGINS.get(task.origin, '-')}{task.priority}"
    url, host = task.url, task.host
    found = _HOST.match(url)
    if found is not None and found[1] == host and not _CONTROL.search(url):
        host = ""
    texts = [url.removeprefix("https:") if url.startswith("https://") else url, host]
    texts += [task.parent or "", str(task.depth or ""), task.source or "", task.category or ""]
    rest = {name: value for name, value in record.items() if name not in _PLACED}
    if "-" in front[:2]:
        rest |= {"kind": task.kind, "origin": task.origin}
    for place, name in enumerate(("url", "host", "parent", "depth", "source", "category")):
        if name in record and (not record[name] or _unplaceable(name, record[name])):
            texts[place], rest[name] = "", record[name]
    head = SEPARATOR.join((front, *texts, ""))
    return valid_utf8(head), valid_utf8(SEPARATOR.join(("", "", compact(rest) if rest else "", str(payload))))


def unpacked(task_id: str, text: str) -> StoredTask:
    """The fields of a stored record, of this form or of an earlier version's."""
    if text.startswith("{"):
        return dict(json.loads(text))
    front, url, host, parent, depth, source, category, discovered, history, rest, payload = text.split(SEPARATOR, 10)
    url = f"https:{url}" if url.startswith("//") else url
    found = _HOST.match(url)
    values = {
        "id": task_id,
        "kind": _KIND_OF.get(front[0]),
        "url": url,
        "host": host or (found[1] if found else ""),
        "priority": int(front[2:] or 0),
        "origin": _ORIGIN_OF.get(front[1]),
        "parent": parent,
        "depth": int(depth or 0),
        "source": source,
        "category": category,
        "payload": payload,
        "discovered_at": int(discovered or 0),
    }
    record = {name: value for name, value in values.items() if value}
    record.update(_history(history))
    if rest:
        record.update(json.loads(rest))
    return record


def _history(text: str) -> Iterable[tuple[str, str | int]]:
    if text:
        count, last, updated, ended = text.split(" ", 3)
        if count != "0":
            yield "fetch_count", int(count)
        if last != "-":
            yield "last_fetched_at", int(last)
        if updated != "-":
            yield "updated_at", int(last if updated == "=" else updated)
        if ended[0] != "-":
            yield "status", _STATUS_OF[ended[0]]
        if ended[1:]:
            yield "reason", ended[2:]


_PLACED = frozenset(Task.__slots__)


def _unplaceable(name: str, value: object) -> bool:
    return isinstance(value, str) and (_CONTROL.search(value) is not None or (name == "url" and value.startswith("//")))
