"""Bulk imports of URLs and feeds: each is judged by itself, so that a bad one stops no other."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.operations.import_jobs import ImportJob
from feedcrawl.domain.secrets import without_secrets
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.services.articles.repeats import Repeated
from feedcrawl.services.articles.tasks import TaskOptions, article_task
from feedcrawl.services.subscriptions import registering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.config import Config
    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.domain.http.url_gate import Gate
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.domain.subscriptions.specs import Refused, SubscriptionSpec
    from feedcrawl.services.articles.repeats import Repeats
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.import_jobs import ImportJobs
    from feedcrawl.store.redis.client import Client
    from feedcrawl.store.subscriptions.registry import Registry

MAX_URLS: Final = 10_000
BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class UrlOptions:
    """Options for URLs: the category of their articles, the priority (1 to 10; None: that of the URL's source), and
    whether recently fetched URLs are fetched again.
    """

    category: str | None = None
    priority: int | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class ReadFeeds:
    """The feeds of a list, and the number of feeds beyond the limit."""

    specs: Sequence[SubscriptionSpec]
    left_out: int


def lines_of(text: str) -> list[str]:
    """The URLs of a text, one per line; empty lines, and text after white space and `#`, are ignored."""
    lines = (line.strip().partition(" #")[0].strip() for line in text.lstrip("\ufeff").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True, slots=True)
class Imports:
    """Imports URLs and lists of feeds. Methods raise StoreUnavailable."""

    client: Client
    frontier: Frontier
    registry: Registry
    articles: Articles
    import_jobs: ImportJobs
    repeats: Repeats
    gate: Gate
    config: Config
    now: Callable[[], datetime]
    sources: Callable[[], Sources]

    def queue_urls(self, urls: Sequence[str], url_options: UrlOptions) -> list[dict[str, object]]:
        """Enqueue pages to be fetched as articles; the result of each, in order.

        `answer` is the reply of `Frontier.enqueue` (`queued` `again` `raised` `pending` `leased` `known`), or `refused`
        with `code` and `detail`. The stored result of a URL that is `known` is announced again. Raises Refusal
        (`no_urls` `too_many_urls`), StoreUnavailable.
        """
        if not urls:
            raise Refusal("no_urls", "name at least one URL")
        if len(urls) > MAX_URLS:
            raise Refusal("too_many_urls", f"one import may have at most {MAX_URLS} URLs, not {len(urls)}")
        options = TaskOptions(
            categories=[url_options.category] if url_options.category else [], priority=url_options.priority
        )
        sources = self.sources()
        judged = [self._judged(url, sources, options) for url in urls]
        tasks = list({task.id: task for _, task in judged if task is not None}.values())
        if url_options.category:
            with self.client.pipeline(transaction=False) as pipe:
                for task in tasks:
                    self.articles.request_categories(pipe, task.id, [url_options.category])
                pipe.execute()
        enqueued = self.frontier.enqueue(tasks, again="operator" if url_options.again else "")
        answers = {task.id: str(answer) for task, answer in zip(tasks, enqueued, strict=True)}
        known = [uid for uid, answer in answers.items() if answer == "known"]
        if url_options.category and known:
            self.articles.categorize_known(known, [url_options.category])
        urls_of = {task.id: task.url for task in tasks}
        self.repeats.announce([Repeated(uid, urls_of[uid], url_options.category) for uid in known])
        return [outcome if task is None else {**outcome, "answer": answers[task.id]} for outcome, task in judged]

    def _judged(self, url: str, sources: Sources, options: TaskOptions) -> tuple[dict[str, object], Task | None]:
        try:
            task = article_task(self.gate.passed(url), sources, options)
        except InvalidUrl as error:
            return {"url": url, "uid": None, "answer": "refused", "code": error.code, "detail": error.detail}, None
        return {"url": url, "uid": task.id}, task

    def read_feeds(self, body: bytes, categories: tuple[str, ...], request_id: str | None) -> ReadFeeds:
        """The feeds of a list, OPML or other: the first `FEEDCRAWL_MAX_FEEDS_PER_LIST`, not judged yet.

        The list's overrides are ignored: the list is not its operator's. Raises Refusal: `not_a_list`, `empty_list`,
        `too_many_feeds`.
        """
        found = read_list(body, limit=self.config.max_feeds_per_list)
        self.check_room(len(found.feeds))
        specs = [replace(spec, request_id=request_id) for spec in registering.specs_of(found, categories)]
        return ReadFeeds(specs, found.left_out)

    def import_now(self, feeds: ReadFeeds) -> tuple[list[str], list[Refused]]:
        """Subscribe to the feeds of a list; returns their ids in the list's order, and the refused feeds."""
        ids: list[str] = []
        refused: list[Refused] = []
        for batch in _batches(feeds):
            done, bad = self._subscribe(batch)
            ids += done
            refused += bad
        return ids, refused

    def new_job(self, feeds: ReadFeeds) -> ImportJob:
        """The stored job of a list that is too long to import while its caller waits."""
        now = self.now()
        made = ImportJob(str(uuid4()), len(feeds.specs), feeds.left_out, now, now)
        self.import_jobs.save(made)
        return made

    def import_steps(self, job: ImportJob, feeds: ReadFeeds) -> Iterator[None]:
        """Carry out a job; each step subscribes to `BATCH` feeds and stores the job's progress."""
        for batch in _batches(feeds):
            ids, refused = self._subscribe(batch)
            job = job.advanced(len(batch), len(ids), list(map(refused_record, refused)), now=self.now())
            self.import_jobs.save(job)
            yield

    def _subscribe(self, specs: Sequence[SubscriptionSpec]) -> tuple[list[str], list[Refused]]:
        good, refused = registering.passed(self.gate, specs)
        ids, bad = registering.subscribe_all(self.registry, self.frontier, good, self.now())
        return ids, [*refused, *bad]

    def find_job(self, job_id: str) -> ImportJob:
        """The present state of a job; raises Refusal (`import_unknown`)."""
        found = self.import_jobs.find(job_id)
        if found is None:
            raise Refusal("import_unknown", "no import has this id: an import is stored for a day after its last step")
        return found.seen(now=self.now())

    def check_room(self, more: int = 1) -> None:
        """Raise Refusal (`too_many_feeds`) if no more feeds can be subscribed over the API."""
        config = self.config
        limits = {"FEEDCRAWL_API_MAX_FEEDS": config.api_max_feeds, "FEEDCRAWL_MAX_FEEDS": config.max_feeds}
        count = self.registry.count()
        for setting, limit in limits.items():
            if limit and count + more > limit:
                raise Refusal("too_many_feeds", f"at most {limit} feeds may be subscribed here ({setting})")


def _batches(feeds: ReadFeeds) -> Iterator[Sequence[SubscriptionSpec]]:
    return (feeds.specs[first : first + BATCH] for first in range(0, len(feeds.specs), BATCH))


def job_record(job: ImportJob) -> dict[str, object]:
    """A job as programs read it."""
    times = {"created_at": rfc3339(job.created_at), "updated_at": rfc3339(job.updated_at)}
    return asdict(job) | {"refused": list(job.refused)} | times


def refused_record(refused: Refused) -> Mapping[str, str]:
    """A refused feed as programs read it."""
    return {"url": without_secrets(refused.url), "code": refused.code, "detail": refused.detail}
