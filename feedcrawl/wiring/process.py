"""The stores and services of a process of feedcrawl, shared within a crawler."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from feedcrawl.domain.articles.similarity import Rule
from feedcrawl.domain.cadence.values import CadencePolicy
from feedcrawl.domain.http.url_gate import Gate
from feedcrawl.parsing import ParserPool
from feedcrawl.services.archive import replay
from feedcrawl.services.archive.replay import Replay
from feedcrawl.services.articles.catalogue import Catalogue
from feedcrawl.services.articles.collections import CollectionService
from feedcrawl.services.articles.files import FileService
from feedcrawl.services.articles.media import MediaService
from feedcrawl.services.articles.merges import Merges
from feedcrawl.services.articles.merging import Merging, Policy
from feedcrawl.services.articles.repeats import Repeats
from feedcrawl.services.articles.submissions import Submissions
from feedcrawl.services.articles.unfetched import Unfetched
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.operations import fleet
from feedcrawl.services.operations.dead_letters import DeadLetterService
from feedcrawl.services.operations.imports import Imports
from feedcrawl.services.operations.overview import Dashboard
from feedcrawl.services.operations.readiness import Readiness
from feedcrawl.services.operations.snapshots import Snapshots
from feedcrawl.services.operations.sweeper import Sweeper
from feedcrawl.services.push.publishing import Publisher
from feedcrawl.services.push.websub import WebSub
from feedcrawl.services.search import embedded, server
from feedcrawl.services.search.documents import Documents
from feedcrawl.services.search.searching import Search
from feedcrawl.services.sites.searching import Stores as SourceStores
from feedcrawl.services.sites.sources import SourceBook
from feedcrawl.services.subscriptions.tempo import Tempo
from feedcrawl.store.articles.files import FileContents, Files
from feedcrawl.telemetry.tracing import tracer_for
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.services.operations.consumer import Consumer
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.articles.stories import Stories
    from feedcrawl.telemetry.tracing import Tracer


class Wiring(Stores):
    """The stores of one process, and the services that use them; `close()` closes them in order."""

    @cached_property
    def readiness(self) -> Readiness:
        """Decides if a crawl may go on, from the state of the server and the disk."""
        config = self.config
        return Readiness(
            self.client,
            self.generation,
            config.data_dir,
            unsafe=config.redis_unsafe,
            min_free_bytes=config.min_free_bytes,
        )

    @cached_property
    def leases(self) -> Leases:
        """The tasks that this worker has leased."""
        return Leases(self.frontier, lease_sec=self.config.lease_sec, tracer=self.tracer)

    @cached_property
    def tracer(self) -> Tracer:
        """Records the spans of tasks, if tracing is on."""
        return tracer_for(on=self.config.tracing)

    @cached_property
    def websub(self) -> WebSub:
        """WebSub subscriptions and deliveries, for the crawl and the API."""
        config, stores = self.config, (self.pushes, self.registry, self.frontier)
        return WebSub(stores, config.public_url, sha1=config.push_sha1, now=self.now)

    @cached_property
    def source_book(self) -> SourceBook:
        """The sources of the file and the API; BadSources if the file cannot be used."""
        return SourceBook(self.config.sources, self.stored_sources)

    @property
    def sources(self) -> Sources:
        """The sources as last read; a crawl looks for changes while it runs."""
        return self.source_book.known

    def current_sources(self) -> Sources:
        """The sources with all changes until now; raises StoreUnavailable."""
        return self.source_book.current()

    @cached_property
    def catalogue(self) -> Catalogue:
        """Stored articles, for readers."""
        return Catalogue(self.articles)

    @cached_property
    def merging(self) -> Merging:
        """Decides if an article is new or is merged into a known article."""
        config = self.config
        rule = Rule(config.join_similarity, config.join_min_chars)
        return Merging(self.client, self._story_stores, self.frontier, Policy(config.join_scope, rule))

    @cached_property
    def media(self) -> MediaService:
        """Page records, for the API's actors and the crawl."""
        return MediaService(self.client, self._story_stores, self.leases, self.current_sources)

    @cached_property
    def unfetched(self) -> Unfetched:
        """Merges tasks into stored articles without a request."""
        stores = (self.client, self.articles, self.events, self.media)
        return Unfetched(*stores, self.merging, self.leases, self.repeats)

    @cached_property
    def repeats(self) -> Repeats:
        """Publishes stored results again for URLs that are queued again."""
        return Repeats(self.client, self.frontier, self.articles, self.events, self.now)

    @cached_property
    def publisher(self) -> Publisher:
        """Tells the configured hub of news in published feeds."""
        return Publisher(self.frontier, self.config.hub_url, self.config.public_url)

    @cached_property
    def gate(self) -> Gate:
        """Decides which URLs callers may submit."""
        return Gate(self.config.allow_networks, self.config.deny_ports)

    @cached_property
    def shelves(self) -> CollectionService:
        """Collections, for the actors of the API."""
        return CollectionService(self.client, (self.articles, self.media_records, self.collections))

    @cached_property
    def merges(self) -> Merges:
        """Lists merges and undoes them."""
        outlets = self.article_lines, self.events
        return Merges(self.client, self._story_stores, outlets, self.leases, self.current_sources)

    @property
    def _story_stores(self) -> tuple[Articles, Stories, MediaRecords, Collections]:
        return self.articles, self.stories, self.media_records, self.collections

    @cached_property
    def dead_letter_service(self) -> DeadLetterService:
        """Dead letters, for operators and the crawl."""
        stores = (self.client, self.frontier, self.dead_letters, self.articles)
        services = self.merging, self.media, self.files, self.events
        return DeadLetterService(*stores, *services, self.current_sources)

    @cached_property
    def snapshots(self) -> Snapshots:
        """Snapshots of the subscriptions on disk."""
        config = self.config
        return Snapshots(
            data_dir=config.data_dir,
            remember_sec=config.remember_sec,
            client=self.client,
            generation=self.generation,
            registry=self.registry,
            sitemaps=self.sitemaps,
            frontier=self.frontier,
            articles=self.articles,
            article_lines=self.article_lines,
        )

    @cached_property
    def dashboard(self) -> Dashboard:
        """The data of the dashboard's pages."""
        return Dashboard(
            client=self.client,
            frontier=self.frontier,
            registry=self.registry,
            entries=self.entries,
            pushes=self.pushes,
            series=self.series,
            dead_letters=self.dead_letters,
            catalogue=self.catalogue,
            entry_lines=self.entry_lines,
            article_lines=self.article_lines,
            now=self.now,
            queue=self.config.queue_name,
        )

    def sweeper(self, worker: str) -> Sweeper:
        """Checks that each feed has a future task, for a worker of this name."""
        return Sweeper(
            self.client,
            self.frontier,
            registry=self.registry,
            sitemaps=self.sitemaps,
            pushes=self.pushes,
            worker=worker,
        )

    @cached_property
    def imports(self) -> Imports:
        """Imports lists of URLs and feeds from callers."""
        stores = (self.client, self.frontier, self.registry, self.articles, self.import_jobs)
        return Imports(*stores, self.repeats, self.gate, self.config, self.now, self.current_sources)

    @cached_property
    def source_stores(self) -> SourceStores:
        """The stores that change when sources are applied."""
        stores = self.registry, self.sitemaps, self.site_searches, self.frontier
        return SourceStores(*stores, self.now, self.config.source_search_again_sec)

    @cached_property
    def fleet_stores(self) -> fleet.Stores:
        """The stores that a scrape of the fleet's metrics reads."""
        stores = (self.client, self.frontier, self.registry, self.dead_letters, self.events)
        config = self.config
        return fleet.Stores(*stores, self.now, config.queue_name, config.circuit_waits_sec, self.search_index)

    @cached_property
    def replay(self) -> Replay:
        """Extracts archived pages anew."""
        return Replay(
            replay.Stores(
                config=self.config,
                client=self.client,
                frontier=self.frontier,
                sources=self.sources,
                articles=self.articles,
                merging=self.merging,
                media=self.media,
                files=self.files,
                events=self.events,
                entry_lines=self.entry_lines,
                article_lines=self.article_lines,
                parsers=self.parsers,
                now=self.now,
            )
        )

    @cached_property
    def search(self) -> Search:
        """Searches the index of articles."""
        return Search(self.search_index)

    def indexer(self) -> Consumer | None:
        """A consumer that keeps the embedded search index; None if it is not in use."""
        if self.config.search == "off" or self.config.search_url:
            return None
        stores = (self.embedded_index, self.events, self.article_lines, self._documents, self.now)
        config = self.config
        return embedded.indexer(embedded.Stores(*stores, config.events_ttl_sec, config.keep_articles_days))

    @cached_property
    def server_indexing(self) -> server.Stores:
        """The stores with which the index of a search server is kept."""
        stores = (self.server_index, self.events, self.article_lines, self._documents, self.now)
        return server.Stores(*stores, self.config.keep_articles_days)

    @property
    def _documents(self) -> Documents:
        return Documents(self.articles, self.current_sources)

    @cached_property
    def submissions(self) -> Submissions:
        """Enqueues many article tasks."""
        return Submissions(self.client, self.articles, self.leases)

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
        """The policy by which intervals of feeds are chosen."""
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
        """The cadence with the tempo that keeps the fleet's budget of polls."""
        return Tempo(self.registry, self.cadence, self.config.polls_per_hour)

    def close(self) -> None:
        """Disconnects from the server, then closes the tracer."""
        super().close()
        if "tracer" in self.__dict__:
            self.tracer.close()


_by_crawler: WeakKeyDictionary[Crawler, Wiring] = WeakKeyDictionary()


def of(crawler: Crawler) -> Wiring:
    """The wiring that all components of a crawler share."""
    if crawler not in _by_crawler:
        _by_crawler[crawler] = Wiring(crawler.settings)
    return _by_crawler[crawler]
