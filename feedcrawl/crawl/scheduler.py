"""Scrapy's scheduler on the frontier: takes leases, never holds a slot for a host that waits, wakes the engine in time.

The engine calls the scheduler after each response and otherwise every five seconds, and a scheduler method that raises
hangs the spider or ends it with status 0. So a timer of our own takes the tasks that have come due and passes them to
`engine.crawl`, and errors of the store become a pause.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Self

from scrapy.utils.asyncio import call_later, create_looping_call
from scrapy.utils.defer import _schedule_coro
from scrapy_redis.scheduler import Scheduler

from feedcrawl import wiring
from feedcrawl.crawl.chains import begin
from feedcrawl.crawl.plain_pages import PlainPages
from feedcrawl.domain.frontier.outcome import retry_wait_sec
from feedcrawl.domain.frontier.tasks import FILE_LANE, LANES, Lease, own_lane
from feedcrawl.services.frontier.requests import request_to_task
from feedcrawl.services.operations.readiness import FINAL
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable
from feedcrawl.telemetry.names import UNRETURNED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

    from feedcrawl.services.operations.readiness import Trouble

logger = logging.getLogger(__name__)

IDLE_SEC = 1.0
"""The longest time between two looks at the frontier, in seconds: other programs and workers add tasks too."""
FRESH_SEC = 0.25
"""Seconds for which a reply of the frontier counts as current when the engine asks whether work is pending."""
OTHER_SPIDERS_SEC = 60.0
"""Seconds beyond the linger time for which a task of another spider is left to that spider."""
LEASED_FOR_EACH = 4  # with 8, first polls took 20 to 35 MB more and as long
"""Maximum number of leased tasks for each request at a time; tasks that wait for a turn of their host do not count."""
MOST_ENDING = 64
"""The number of tasks whose end is on its way to the store at which no more are taken. Ends are sent 16 at a time: more
would only wait, each with some 25 KB of objects, and Python keeps the memory that they took.
"""
FILES = 4
"""The number of media files in progress at which no more are taken: the body of each is in memory."""
READY = "frontier_ready"
"""Marks a request whose turn has come, on its way through `engine.crawl` back to the scheduler."""


class FrontierScheduler(Scheduler):  # type: ignore[misc]
    """A scheduler whose queue is the frontier.

    A spider may define `request_for(lease) -> Request` for the tasks that it takes, `lanes` (the lanes that it takes
    from), and `forever` (keep running when nothing is due). Requests that a spider yields without a lease become tasks.
    """

    def __init__(self, crawler: Crawler) -> None:
        wired = wiring.of(crawler)
        super().__init__(server=wired.client, persist=True)
        self._crawler = crawler
        self._config = wired.config
        self._readiness = wired.readiness
        self.leases = wired.leases
        self._tracer = wired.tracer
        # CONCURRENT_REQUESTS = 0 is no limit.
        self._most_leased = LEASED_FOR_EACH * crawler.settings.getint("CONCURRENT_REQUESTS") or sys.maxsize
        self._pages = PlainPages(crawler)
        self._ready: deque[Request] = deque()
        self._waiting_turn: dict[str, CallLaterResult] = {}
        self._unpushed: list[Request] = []
        self._timer: CallLaterResult | None = None
        self._timer_at = float("inf")
        self._taken_at = float("-inf")
        self._due_at: float | None = None
        self._blocked = 0
        self._away_since: float | None = None
        self._away_for: Trouble | None = None
        self._closing = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect at once, so that an unusable server stops the start."""
        scheduler = cls(crawler)
        wiring.of(crawler).generation.settle()
        scheduler.stats = crawler.stats
        return scheduler

    def open(self, spider: Spider) -> None:
        """Start the heartbeat; no task is taken before the engine asks for one."""
        self.spider = spider
        lanes = getattr(spider, "lanes", LANES if hasattr(spider, "request_for") else ())
        self._lanes = (*lanes, own_lane(spider.name))
        self.leases.on_change = self._wake_in
        self._heartbeat = create_looping_call(self._beat)
        self._heartbeat.start(self._config.lease_sec / 3, now=False)
        begin.prepare(self._crawler)

    def close(self, reason: str) -> None:
        """Give all leases back. Runs after the pipelines are closed; shared keys are never deleted."""
        self._closing = True
        self._heartbeat.stop()
        for timer in (self._timer, *self._waiting_turn.values()):
            if timer is not None:
                timer.cancel()
        self._ready.clear()
        self._waiting_turn.clear()
        returned = self.leases.give_all_back(f"closing: {reason}")
        if self.leases.unreturned:
            self.stats.set_value(UNRETURNED, self.leases.unreturned)
        if returned:
            logger.info("leases_given_back", extra={"count": returned, "reason": reason})

    def flush(self) -> None:
        """Nothing to flush: one worker must not delete what all workers share."""

    def __len__(self) -> int:
        return len(self._ready) + len(self._waiting_turn) + len(self._unpushed)

    def enqueue_request(self, request: Request) -> bool:
        """Accept a request from the engine; False if the request is dropped.

        A request whose turn has come goes to the downloader. A request with a lease is a continuation (a redirect on
        the same host) and waits for the host's turn. Every other request is a new task, which is kept
        while the store is away.
        """
        lease: Lease | None = request.meta.get("lease")
        if lease is None:
            return self._push(request)
        if not self.leases.holds(lease):
            return False
        if request.meta.pop(READY, False):
            self._ready.append(request)
            return True
        return self._wait_turn(request, lease)

    def next_request(self) -> Request | None:
        """The next request that may be sent now."""
        if not self._ready and not self._closing and time.monotonic() >= self._not_before():
            self._take()
        while self._ready:
            request = self._ready.popleft()
            if self._is_ours(request.meta["lease"]):
                self._count("dequeued")
                return request
        return None

    def has_pending_requests(self) -> bool:
        """True if there is work for this worker now or within the linger time."""
        if self._closing:
            return False
        waiting = len(self) or self.leases.unreturned or self._away_since is not None
        if waiting or getattr(self.spider, "forever", False):
            return True
        if self.leases.own_network.is_silent and self.leases.own_network.lasts_sec > self._config.linger_sec:
            return False  # the tasks wait in the frontier for a worker that reaches the web
        now = time.monotonic()
        if now - self._taken_at > FRESH_SEC or self._timer_at <= now:
            self._take()
            if self._ready:
                self._wake_in(0)
                return True
        due = self._due_at is not None and self._due_at <= time.monotonic() + self._config.linger_sec
        if due or self._blocked > 0 or self._away_since is not None:
            return True
        # A server that was emptied reports nothing due either.
        return self._has_leases_left() or not self._readiness.same_server()

    def _has_leases_left(self) -> bool:
        """True if a dead worker's leases end soon, or if the store had leases that this worker did not know of."""
        try:
            returned, dead = self.leases.return_strays(), self.leases.awaits_the_dead()
        except StoreUnavailable as error:
            self._pause(error)
            return True
        if returned:
            logger.warning("strays_returned", extra={"count": returned})
            self._count("strays_returned")
        return dead or returned > 0

    def _is_ours(self, lease: Lease) -> bool:
        """False if another worker got the lease while this process was suspended: we have no turn at the host."""
        try:
            if self.leases.confirms(lease):
                return True
            self._lost(lease.id)
        except StoreUnavailable as error:
            self.leases.give_back_eventually(lease, reason="store_lost")
            self._pause(error)
        return False

    def _push(self, request: Request) -> bool:
        if self._unpushed:  # no further call while tasks wait for the store: each may take as long as its time limit
            self._unpushed.append(request)
            return True
        try:
            task = request_to_task(request.to_dict(spider=self.spider), self.spider.name)
            answer = self.leases.enqueue([task], again="queue_again" if request.dont_filter else "")[0]
        except StoreUnavailable as error:
            self._unpushed.append(request)
            self._pause(error)
            return True
        except (TypeError, ValueError) as error:
            refused = {"url": request.url, "detail": str(error)}
            logger.error("request_unusable", extra=refused)  # noqa: TRY400 - the error says what cannot travel
            self._count("unusable")
            return False
        self._count("enqueued")
        return answer in ("queued", "again", "raised")

    def _wait_turn(self, request: Request, lease: Lease) -> bool:
        goes_on = getattr(self.spider, "goes_on", None)
        try:
            if goes_on is not None and not goes_on(request, lease):
                return False
            wait = self.leases.turn(lease)
        except StoreUnavailable as error:
            self.leases.give_back_eventually(lease, reason="store_lost")
            self._pause(error)
            return False
        if wait is None:
            return False
        request.meta[READY] = True
        self._waiting_turn[lease.id] = call_later(wait, self._turn_has_come, request, lease)
        return True

    def _turn_has_come(self, request: Request, lease: Lease) -> None:
        self._waiting_turn.pop(lease.id, None)
        assert self._crawler.engine is not None
        self._crawler.engine.crawl(request)

    def _not_before(self) -> float:
        """The next useful look at the frontier: a task comes due, may have been added, or IDLE_SEC is over."""
        return min(self._due_at or float("inf"), self._timer_at, self._taken_at + IDLE_SEC)

    def _take(self) -> None:
        if (trouble := self._readiness.trouble) is not None:
            self._pause(trouble)
            return
        self.leases.give_back_unreturned()
        network = self.leases.own_network
        if (rest := network.wait_sec()) > 0:
            self._taken_at = time.monotonic()
            self._due_at = self._taken_at + rest
            self._wake_in(rest)
            return
        room = self._most_leased - len(self.leases.leased) + len(self._waiting_turn)
        too_little = room < min(self._config.take_batch, self._most_leased // 4)
        if too_little or self.leases.ending >= MOST_ENDING:  # the next end of a task wakes the scheduler
            self._taken_at = time.monotonic()
            self._due_at = None
            return
        try:
            taken = self.leases.take(1 if network.is_silent else min(self._config.take_batch, room), self._lanes_now())
            network.tried()
            self._admit(taken.leases)
        except StoreUnavailable as error:
            self._pause(error)
            return
        self._resume()
        now = self._taken_at = time.monotonic()
        self._due_at = None if taken.wait_sec is None else now + taken.wait_sec
        self._blocked = taken.blocked
        for gone in taken.given_up:
            logger.error("task_given_up", extra={"task": gone.id, "outcome": gone.outcome, "reason": gone.reason})
        self._wake_in(max(min(self._due_at or float("inf"), now + IDLE_SEC) - now, 0.001))

    def _lanes_now(self) -> tuple[str, ...]:
        if FILE_LANE in self._lanes and self.leases.count("file") >= FILES:
            return tuple(lane for lane in self._lanes if lane != FILE_LANE)
        return self._lanes

    def _admit(self, leases: Sequence[Lease]) -> None:
        """Turn leases into requests; a bad record costs its own task an attempt and stops no other."""
        prepare = getattr(self.spider, "prepare", None)
        if prepare is not None and leases:
            try:
                prepare(leases)
            except StoreUnavailable:
                for lease in leases:
                    self.leases.give_back_eventually(lease, reason="store_lost")
                raise
        for lease in leases:
            request = self._build(lease)
            if request is not None:
                request.meta["lease"] = lease
                self._ready.append(request)

    def _build(self, lease: Lease) -> Request | None:
        build = self._pages.request if lease.task.kind == "page" else getattr(self.spider, "request_for", None)
        if build is None or lease.task.payload.get("spider", self.spider.name) != self.spider.name:
            later = self._config.linger_sec + OTHER_SPIDERS_SEC
            self.leases.give_back_eventually(lease, reason="another_spider", delay_sec=later)
            return None
        try:
            with self._tracer.span("decision", lease, reason=lease.history.reason, priority=lease.task.priority):
                request: Request | None = build(lease)
        except StoreUnavailable:
            self.leases.give_back_eventually(lease, reason="store_lost")
            return None
        except Exception:
            logger.exception("task_unusable", extra={"task": lease.id, "url": lease.task.url})
            wait = retry_wait_sec(self._config.retry_base_sec, lease.history.attempts)
            self.leases.give_back_eventually(lease, reason="task_unusable", counted=True, delay_sec=wait)
            return None
        return request

    def _wake_in(self, seconds: float) -> None:
        """Look at the frontier after this time, unless an earlier look is already planned."""
        at = time.monotonic() + seconds
        if self._closing or at >= self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._timer, self._timer_at = None, float("inf")
        engine = self._crawler.engine
        if self._closing or engine is None:
            return
        if engine.needs_backout():
            self._taken_at = float("-inf")  # every slot is busy: the engine asks by itself after the next response
            return
        self._take()
        ready, self._ready = list(self._ready), deque()
        for request in ready:
            request.meta[READY] = True
            engine.crawl(request)
        if not ready and engine._slot is not None:  # noqa: SLF001 - Scrapy has no public way to make it look for idleness
            engine._slot.nextcall.schedule()  # noqa: SLF001

    def _beat(self) -> None:
        try:
            lost = self.leases.heartbeat()
        except StoreUnavailable as error:
            self._pause(error)
            return
        for task_id in lost:
            self._lost(task_id)

    def _lost(self, task_id: str) -> None:
        logger.warning("lease_lost", extra={"task": task_id})
        self._count("lease_lost")

    def _pause(self, trouble: Trouble) -> None:
        """Take no tasks until the trouble has passed; trouble beyond the outage limit, or for good, ends the crawl."""
        now, code, what = time.monotonic(), trouble.code, _what(trouble)
        if self._away_since is None:
            self._away_since = now
        if self._away_for is None or code != self._away_for.code:
            self._away_for = trouble
            self._count(f"paused/{code}")
            logger.error(f"{what}_away", extra={"reason": code, "detail": trouble.detail})  # noqa: G004 - two events
        self._taken_at, self._due_at = now, now + IDLE_SEC
        if code in FINAL:
            self.leases.lose_all()  # work in progress must not be written to a server that does not know it
        if code in FINAL or now - self._away_since > self._config.redis_outage_sec:
            self._fail(f"{what}_away")
        self._wake_in(IDLE_SEC)

    def _resume(self) -> None:
        if self._away_since is not None and self._away_for is not None:
            away_sec = round(time.monotonic() - self._away_since, 1)
            logger.warning(f"{_what(self._away_for)}_back", extra={"away_sec": away_sec, "reason": self._away_for.code})  # noqa: G004
            self._away_since = self._away_for = None
            self._has_leases_left()
            unpushed, self._unpushed = self._unpushed, []
            for request in unpushed:
                self._push(request)  # if this fails again, this request and the rest are kept as before

    def _fail(self, reason: str) -> None:
        if self._closing or self._crawler.engine is None:
            return
        self._closing = True
        self._count("failed")
        call_later(0, self._close_spider, reason)

    def _close_spider(self, reason: str) -> None:
        assert self._crawler.engine is not None
        _schedule_coro(self._crawler.engine.close_spider_async(reason=reason))

    def _count(self, what: str) -> None:
        assert self.stats is not None
        self.stats.inc_value(f"feedcrawl/scheduler/{what}")


def _what(trouble: Trouble) -> str:
    return "disk" if isinstance(trouble, DiskUnavailable) else "store"
