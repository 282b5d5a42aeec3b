"""Converts requests of a spider to tasks of the frontier, and back: JSON values only, never code."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from feedcrawl.domain.frontier.payloads import filled
from feedcrawl.domain.frontier.priority import DEFAULT, priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.http.redirects import SAFE_HEADERS
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEPT = ("method", "cookies", "encoding", "flags", "cb_kwargs", "callback", "errback", "dont_filter")
_OF_ONE_FETCH = frozenset(
    (
        *("lease", "outcome", "signal", "retry_after_sec", "probed", "raw_ref", "fetch_id"),
        *("outgoing", "bindaddress", "route_of", "over_limit", "wire_bytes", "http_status"),
        *("redirect_urls", "redirect_statuses", "redirect_cookies", "redirect_cookies_sent"),
        *("download_slot", "download_latency"),
    )
)
"""Keys that a fetch leaves in `meta`; spiders copy them (`meta=response.meta`), though they do not apply to the
next fetch.
"""


def request_to_task(request: Mapping[str, Any], spider: str = "") -> Task:
    """A task of kind `page` from `Request.to_dict()`, for the named spider or any spider that takes it.

    Raises InvalidUrl; values that are not JSON raise TypeError when the task is encoded.

    The id is a hash of method, URL and body, so that a request yielded twice is one task. Scrapy's priority is relative
    to the default priority, and each followed link lowers it by one.
    """
    url, body = request["url"], request["body"]
    digest = hashlib.sha1(f"{request['method']} {url} ".encode() + body, usedforsecurity=False).hexdigest()
    payload = filled({name: request.get(name) for name in _KEPT})
    payload["headers"] = {
        _text(name): [_text(value) for value in values] for name, values in request["headers"].items()
    }
    if spider:
        payload["spider"] = spider
    if body:
        payload["body"] = b64encode(body).decode()
    meta = {name: value for name, value in request["meta"].items() if name not in _OF_ONE_FETCH}
    if meta:
        payload["meta"] = meta
    if request["priority"]:
        payload["priority"] = request["priority"]
    depth = meta.get("depth", 0)
    rank = priority(DEFAULT + request["priority"], origin="spider", depth=depth)
    return Task(f"page:{digest[:16]}", "page", url, hostname(url), rank, "spider", depth=depth, payload=payload)


def task_to_request_dict(task: Task) -> dict[str, Any]:
    """The dict from which `scrapy.utils.request.request_from_dict` rebuilds the request.

    After a redirect to another host, the request has no cookies of its own and none but the safe headers.
    """
    payload = {name: value for name, value in task.payload.items() if name in (*_KEPT, "meta", "priority")}
    headers = {
        name.encode("latin-1"): [v.encode("latin-1") for v in values]
        for name, values in task.payload.get("headers", {}).items()
    }
    if "redirect_chain" in task.payload:
        headers = {name: values for name, values in headers.items() if name.decode("latin-1").title() in SAFE_HEADERS}
        payload.pop("cookies", None)
    return {**payload, "url": task.url, "headers": headers, "body": b64decode(task.payload.get("body", ""))}


def _text(value: bytes) -> str:
    return value.decode("latin-1")
