"""Requests of a spider as tasks of the frontier, and back: JSON values only, never code."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.tasks import Task
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEPT = ("method", "cookies", "encoding", "flags", "cb_kwargs", "callback", "errback", "dont_filter")


def request_to_task(request: Mapping[str, Any]) -> Task:
    """A task of kind `page` from `Request.to_dict()`; TypeError (from json, later) for values that are no JSON.

    The id is a hash of method, URL and body, so that a request yielded twice is one task.
    """
    url, body = request["url"], request["body"]
    digest = hashlib.sha1(f"{request['method']} {url} ".encode() + body, usedforsecurity=False).hexdigest()
    payload = {name: request[name] for name in _KEPT if request.get(name)}
    payload["headers"] = {
        _text(name): [_text(value) for value in values] for name, values in request["headers"].items()
    }
    if body:
        payload["body"] = b64encode(body).decode()
    if request["meta"]:
        payload["meta"] = request["meta"]
    if request["priority"]:
        payload["priority"] = request["priority"]
    depth = request["meta"].get("depth", 0)
    return Task(f"page:{digest[:16]}", "page", url, hostname(url), origin="spider", depth=depth, payload=payload)


def task_to_request_dict(task: Task) -> dict[str, Any]:
    """What `scrapy.utils.request.request_from_dict` needs to build the request again."""
    payload = dict(task.payload)
    headers = {
        name.encode("latin-1"): [v.encode("latin-1") for v in values]
        for name, values in payload.get("headers", {}).items()
    }
    return {**payload, "url": task.url, "headers": headers, "body": b64decode(payload.get("body", ""))}


def _text(value: bytes) -> str:
    return value.decode("latin-1")
