"""Tasks of kind `websub`: request a subscription from a feed's hub, renew and end it; tell our own hub of news."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from scrapy import Request

from feedcrawl.domain.push.leases import LEAVING, RETRY_SEC
from feedcrawl.domain.push.protocol import Topic
from feedcrawl.domain.push.rsscloud import is_refused
from feedcrawl.handlers.base import TaskHandler
from feedcrawl.services.push import publishing
from feedcrawl.services.push.publishing import NEWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from feedcrawl.domain.frontier.payloads import Patch
    from feedcrawl.domain.frontier.tasks import Lease
    from feedcrawl.domain.push.leases import HubSubscription

logger = logging.getLogger(__name__)

HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "*/*"}
MAX_ANSWER_BYTES = 1 << 20
ONCE = (LEAVING, NEWS)
"""Prefixes of tasks that end with a hub's response, unlike those that keep a subscription."""
TRIES = 3


class HubTasks(TaskHandler):
    """Requests hubs by the rules for any host: turn, circuit and address guard. A redirect counts as no response."""

    _hub_subscriptions: dict[str, HubSubscription]
    _feeds: frozenset[str]

    def prepare(self, leases: Sequence[Lease]) -> None:
        """Load the known state of the hubs of a batch."""
        ids = [_feed_id(lease) for lease in leases]
        self._hub_subscriptions = self.wired.hub_subscriptions.all_of(ids)
        self._feeds = frozenset(self.wired.registry.load(ids))

    def request(self, lease: Lease) -> Request | None:
        """The form to a hub; None if it is not due yet, or WebSub is off."""
        if lease.id.startswith(LEAVING):
            return self._form(lease.task.url, self.wired.websub.unsubscribe_form(lease.task))
        if lease.id.startswith(NEWS):
            return self._form(lease.task.url, publishing.form_of(lease.task))
        feed_id, push = _feed_id(lease), self._hub_subscriptions.get(_feed_id(lease))
        if not self.wired.websub.on or feed_id not in self._feeds:
            self.wired.hub_subscriptions.forget(feed_id)
            self.leases.done(lease, status="dead", reason="push_off" if feed_id in self._feeds else "unsubscribed")
            return None
        payload = lease.task.payload
        topic = Topic(lease.task.url, payload["topic"], payload.get("protocol", "websub"))
        wait = self.wired.websub.request_due_sec(feed_id, push, topic)
        if wait > 0:
            self.leases.done(lease, status="pending", reason="waits", delay_sec=wait)
            return None
        return self._form(topic.hub, self.wired.websub.subscribe_form(feed_id, topic))

    def _form(self, hub: str, form: bytes) -> Request:
        meta = {
            "dont_obey_robotstxt": True,  # the feed names its hub so that subscribers request it
            "download_timeout": self.wired.config.fetch_timeout_sec,
            "download_maxsize": MAX_ANSWER_BYTES,
            "handle_httpstatus_all": True,
        }
        return Request(hub, self.parse, "POST", HEADERS, form, meta=meta, errback=self.failed, dont_filter=True)

    async def parse(self, response: Response) -> None:
        """Read the hub's response: 2xx means that the hub will verify the subscription, or has verified it."""
        request = cast("Request", response.request)
        lease = request.meta["lease"]
        if 200 <= response.status < 300 and lease.id.startswith(ONCE):
            event = "push_leaving" if lease.id.startswith(LEAVING) else "hub_told"
            logger.info(event, extra={"url": request.url, "topic": lease.task.payload["topic"]})
            self.leases.done(lease, status="fetched", reason="accepted")
        elif 200 <= response.status < 300 and "protocol" in lease.task.payload and is_refused(response.body):
            self._failed(request, "not_registered")
        elif 200 <= response.status < 300:
            feed_id = _feed_id(lease)
            logger.info("push_asked", extra={"feed_id": feed_id, "url": request.url})
            self._again(request, "asked", self.wired.websub.wait(feed_id))
        else:
            self._failed(request, "hub_redirects" if response.status < 400 else f"http_{response.status}")

    async def failed(self, failure: Failure) -> None:
        """Handle a hub that did not respond."""
        settled = self.settled(failure)
        if settled is not None:
            request, outcome = settled
            self._failed(request, outcome.reason)

    def _failed(self, request: Request, reason: str) -> None:
        lease = request.meta["lease"]
        if lease.id.startswith(ONCE):
            self._try_again(lease, reason)
            return
        requested_sec = request.meta.get("retry_after_sec") or 0.0
        wait = self.wired.websub.fail(_feed_id(request.meta["lease"]), reason, at_least_sec=requested_sec)
        self._again(request, reason, wait)

    def _try_again(self, lease: Lease, reason: str) -> None:
        """Repeat a request a few times: a lease that is not renewed ends, and later news have later requests."""
        tries = lease.task.payload.get("tries", 0) + 1
        if tries >= TRIES:
            event = "push_not_left" if lease.id.startswith(LEAVING) else "hub_not_told"
            logger.warning(event, extra={"url": lease.task.url, "reason": reason})
            self.leases.done(lease, status="dead", reason=reason)
            return
        patch: Patch = {"payload": {**lease.task.payload, "tries": tries}}
        self.leases.done(lease, status="pending", reason=reason, delay_sec=RETRY_SEC * tries, patch=patch)

    def _again(self, request: Request, reason: str, wait: float) -> None:
        self.stats.inc_value(f"feedcrawl/hubs/{reason}")
        self.leases.done(request.meta["lease"], status="pending", reason=reason, delay_sec=wait)


def _feed_id(lease: Lease) -> str:
    return lease.id.removeprefix("websub:")
