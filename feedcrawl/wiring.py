"""What a process of feedcrawl is made of: the one place that names concrete stores and shares them within a crawler."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_redis.connection import SETTINGS_PARAMS_MAP

from feedcrawl.config import Config
from feedcrawl.domain.articles.similarity import Rule
from feedcrawl.domain.cadence.values import CadencePolicy
from feedcrawl.parsing import ParserPool
from feedcrawl.services.articles.catalogue import Catalogue
from feedcrawl.services.articles.collections import CollectionService
from feedcrawl.services.articles.files import FileService
from feedcrawl.services.articles.joins import Joins, Policy
from feedcrawl.services.articles.media import MediaService
from feedcrawl.services.articles.merges import Merges
from feedcrawl.services.articles.submissions import Submissions
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.operations.readiness import Readiness
from feedcrawl.services.operations.url_gate import Gate
from feedcrawl.services.push.websub import WebSub
from feedcrawl.services.sites.sources import Sources, all_of, load
from feedcrawl.services.subscriptions.tempo import Tempo
from feedcrawl.store.articles.collections import Collections
from feedcrawl.store.articles.files import FOLDER, FileContents, Files
from feedcrawl.store.articles.media import MediaRecords
from feedcrawl.store.articles.records import Articles, Lives
from feedcrawl.store.articles.stories import Stories
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.frontier.dead_letters import DeadLetters
from feedcrawl.store.frontier.hosts import Hosts
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.frontier.shards import Shards, agree
from feedcrawl.store.operations.answers import Answers
from feedcrawl.store.operations.series import Series
from feedcrawl.store.operations.streams import Events
from feedcrawl.store.operations.tokens import Tokens
from feedcrawl.store.push.websub import Pushes
from feedcrawl.store.redis.connection import Connection, connect
from feedcrawl.store.redis.generation import Generation
from feedcrawl.store.sites.site_runs import SiteRuns
from feedcrawl.store.sites.sitemaps import Sitemaps
from feedcrawl.store.sites.sources import SaidSources
from feedcrawl.store.subscriptions.entries import Entries
from feedcrawl.store.subscriptions.registry import Registry
from feedcrawl.telemetry.tracing import tracer_for

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.redis.client import Client
    from feedcrawl.telemetry.tracing import Tracer


class Wiring:
    """The stores of one process, each made when it is first asked for; `close()` ends them in order.

    `any_server`: the server may be another than the data directory knows.
    """

    _generation: Generation

    def __init__(self, settings: BaseSettings, *, any_server: bool = False) -> None:
        self.config = Config.from_settings(settings)
        self._settings = settings
        self._any_server = any_server

    @cached_property
    def connection(self) -> Connection:
        """The Redis in use, checked; ServerRefused says what must change."""
        parameters = self._settings.getdict("REDIS_PARAMS")
        given = {name: self._settings.get(source) for source, name in SETTINGS_PARAMS_MAP.items()}
        parameters.update({name: value for name, value in given.items() if value})
        connection = connect(
            url=parameters.pop("url", None),
            data_dir=self.config.data_dir,
            unsafe=self.config.redis_unsafe,
            parameters=parameters,
        )
        with ExitStack() as undo:
            undo.callback(connection.close)
            agree(connection.client, self.config.shards)
            self._generation = Generation(connection.client, self.config.data_dir, shards=self.config.shards)
            if not self._any_server:
                self._generation.check()
            undo.pop_all()
        return connection

    @staticmethod
    def now() -> datetime:
        """The wall clock, for dates that people and publishers see."""
        return datetime.now(UTC)

    @property
    def client(self) -> Client:
        """The connection's client."""
        return self.connection.client

    @property
    def generation(self) -> Generation:
        """Whether the server is the one that the data directory knows."""
        _ = self.connection
        return self._generation

    @cached_property
    def readiness(self) -> Readiness:
        """Whether a crawl may go on."""
        config = self.config
        return Readiness(self.client, self.generation, config.data_dir, unsafe=config.redis_unsafe)

    @cached_property
    def frontier(self) -> Frontier:
        """All future work."""
        config = self.config
        policy = FrontierPolicy(
            lease_sec=config.lease_sec,
            max_attempts=config.max_attempts,
            host_delay_sec=config.host_delay_sec,
            host_concurrency=config.host_concurrency,
            domain_delay_sec=config.domain_delay_sec,
            domain_concurrency=config.domain_concurrency,
            remember_sec=config.remember_sec,
            circuit_failures=config.circuit_failures,
            circuit_waits_sec=config.circuit_waits_sec,
        )
        if config.shards == 1:
            return Shard(self.client, policy)
        return Shards(self.client, policy, shards=config.shards)

    @cached_property
    def leases(self) -> Leases:
        """What this worker holds of it."""
        return Leases(self.frontier, lease_sec=self.config.lease_sec, tracer=self.tracer)

    @cached_property
    def tracer(self) -> Tracer:
        """What follows a task through its steps, if anything does."""
        return tracer_for(on=self.config.tracing)

    @cached_property
    def registry(self) -> Registry:
        """The subscribed feeds."""
        config = self.config
        return Registry(
            self.client,
            shards=config.shards,
            journal_length=config.journal_length,
            max_feeds=config.max_feeds,
        )

    @cached_property
    def series(self) -> Series:
        """What polls and articles came to lately."""
        return Series(self.client, shards=self.config.shards)

    @cached_property
    def pushes(self) -> Pushes:
        """The feeds' hubs, and what they have delivered."""
        return Pushes(self.client, shards=self.config.shards)

    @cached_property
    def websub(self) -> WebSub:
        """Push, as the crawl and the API see it."""
        config, stores = self.config, (self.pushes, self.registry, self.frontier)
        return WebSub(stores, config.public_url, sha1=config.push_sha1, now=self.now)

    @cached_property
    def sitemaps(self) -> Sitemaps:
        """The sitemaps that are watched."""
        return Sitemaps(self.client, shards=self.config.shards, journal_length=self.config.journal_length)

    @cached_property
    def sources(self) -> Sources:
        """The sites with settings of their own, as a crawl follows them; BadSources where their file cannot be used."""
        return all_of(self.config.sources, self.said_sources)

    @cached_property
    def file_sources(self) -> frozenset[str]:
        """The names of those in the operator's file."""
        return frozenset(load(self.config.sources))

    @cached_property
    def said_sources(self) -> SaidSources:
        """Those that were said over the API."""
        return SaidSources(self.client)

    @cached_property
    def hosts(self) -> Hosts:
        """robots.txt of hosts."""
        return Hosts(self.client, robots_ttl_sec=self.config.robots_ttl_sec)

    @cached_property
    def entries(self) -> Entries:
        """What is known of each feed's entries."""
        return Entries(self.client, shards=self.config.shards)

    @cached_property
    def articles(self) -> Articles:
        """Canonical articles and claims."""
        config = self.config
        lives = Lives(
            article_sec=config.article_ttl_sec,
            category_links_sec=config.category_links_ttl_sec,
            page_sec=config.page_cache_ttl_sec,
            pages_bytes=config.page_cache_max_bytes,
        )
        return Articles(self.client, lives, shards=config.shards)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Articles, for readers."""
        return Catalogue(self.articles)

    @cached_property
    def stories(self) -> Stories:
        """What tells that two articles are one story."""
        return Stories(self.client, title_life_sec=self.config.article_ttl_sec, shards=self.config.shards)

    @cached_property
    def media_records(self) -> MediaRecords:
        """What became of each article."""
        return MediaRecords(self.client, life_sec=self.config.media_ttl_sec, shards=self.config.shards)

    @cached_property
    def collections(self) -> Collections:
        """Which articles belong to whom."""
        return Collections(self.client, shards=self.config.shards)

    @cached_property
    def joins(self) -> Joins:
        """Whether an article is new."""
        config = self.config
        rule = Rule(config.join_similarity, config.join_min_chars)
        return Joins(self.client, self._story_stores, self.frontier, Policy(config.join_scope, rule))

    @cached_property
    def media(self) -> MediaService:
        """Media records, as actors and the crawl use them."""
        return MediaService(self.client, self._story_stores, self.leases)

    @cached_property
    def gate(self) -> Gate:
        """Which URLs may be named."""
        return Gate(self.config.allow_networks, self.config.deny_ports)

    @cached_property
    def shelves(self) -> CollectionService:
        """Collections, as their actors use them."""
        return CollectionService(self.client, (self.articles, self.media_records, self.collections))

    @cached_property
    def merges(self) -> Merges:
        """Joins, looked at and undone."""
        return Merges(self.client, self._story_stores, (self.article_lines, self.events), self.leases)

    @property
    def _story_stores(self) -> tuple[Articles, Stories, MediaRecords, Collections]:
        return self.articles, self.stories, self.media_records, self.collections

    @cached_property
    def dead_letters(self) -> DeadLetters:
        """The URLs that were given up."""
        return DeadLetters(self.client)

    @cached_property
    def submissions(self) -> Submissions:
        """The way of many article tasks into the frontier."""
        return Submissions(self.client, self.articles, self.leases)

    @cached_property
    def site_runs(self) -> SiteRuns:
        """The crawls of sites that are under way."""
        return SiteRuns(self.client)

    @cached_property
    def events(self) -> Events:
        """The stream of events."""
        return Events(self.client, ttl_sec=self.config.events_ttl_sec)

    @cached_property
    def tokens(self) -> Tokens:
        """Who may use the API."""
        return Tokens(self.client)

    @cached_property
    def answers(self) -> Answers:
        """What requests of the API were answered that may come twice."""
        return Answers(self.client)

    @cached_property
    def entry_lines(self) -> NdjsonFile:
        """entries/<day>.ndjson."""
        return NdjsonFile(self.config.data_dir / "entries")

    @cached_property
    def article_lines(self) -> NdjsonFile:
        """articles/<day>.ndjson."""
        return NdjsonFile(self.config.data_dir / "articles")

    @cached_property
    def file_lines(self) -> NdjsonFile:
        """files/<day>.ndjson."""
        return NdjsonFile(self.config.data_dir / FOLDER)

    @cached_property
    def files(self) -> FileService:
        """Media files of entries and articles."""
        config = self.config
        known = Files(self.client, life_sec=config.remember_sec, shards=config.shards)
        stores = (known, self.articles, self.file_lines)
        return FileService(config, stores, self.leases, FileContents(config.data_dir))

    @cached_property
    def parsers(self) -> ParserPool:
        """The child processes in which documents are parsed."""
        config = self.config
        return ParserPool(config.parsers, cpu_sec=config.parser_cpu_sec, memory_bytes=config.parser_memory_bytes)

    @cached_property
    def cadence(self) -> CadencePolicy:
        """How feeds are polled."""
        config = self.config
        fairness = {} if config.fairness is None else {"fairness": config.fairness}
        return CadencePolicy(
            name=config.cadence,
            min_interval_sec=config.min_interval_sec,
            max_interval_sec=config.max_interval_sec,
            initial_interval_sec=config.initial_interval_sec,
            up_factor=config.up_factor,
            down_factor=config.down_factor,
            ewma_alpha=config.ewma_alpha,
            blend_lambda=config.blend_lambda,
            jitter_ratio=config.jitter_ratio,
            backoff_base=config.backoff_base,
            backoff_cap_sec=config.backoff_cap_sec,
            **fairness,
        )

    @cached_property
    def tempo(self) -> Tempo:
        """The same, at the tempo that keeps the fleet's budget."""
        return Tempo(self.registry, self.cadence, self.config.polls_per_hour)

    def close(self) -> None:
        """Leaves the server; the embedded one ends with its last user."""
        if "connection" in self.__dict__:
            self.connection.close()
        if "tracer" in self.__dict__:
            self.tracer.close()


_by_crawler: WeakKeyDictionary[Crawler, Wiring] = WeakKeyDictionary()


def of(crawler: Crawler) -> Wiring:
    """The wiring that all components of a crawler share."""
    if crawler not in _by_crawler:
        _by_crawler[crawler] = Wiring(crawler.settings)
    return _by_crawler[crawler]
