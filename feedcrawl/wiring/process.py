"""The stores and services of a process of feedcrawl, shared within a crawler."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from feedcrawl import parsing, services, store
from feedcrawl.domain.articles.similarity import Rule
from feedcrawl.domain.cadence.values import CadencePolicy
from feedcrawl.domain.http.url_gate import Gate
from feedcrawl.telemetry.tracing import tracer_for
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from feedcrawl.domain.frontier.dead_letters import DeadLetter
    from feedcrawl.domain.frontier.queue_items import QueueItem
    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.telemetry.tracing import Tracer


class Wiring(Stores):
    """The stores of one process, and the services that use them; `close()` closes them in order."""

    @cached_property
    def readiness(self) -> services.Readiness:
        """Decides if a crawl may go on, from the state of the server and the disk."""
        config = self.config
        return services.Readiness(
            self.client,
            self.generation,
            config.data_dir,
            unsafe=config.redis_unsafe,
            min_free_bytes=config.min_free_bytes,
        )

    @cached_property
    def leases(self) -> services.Leases:
        """The tasks that this worker has leased."""
        return services.Leases(self.frontier, lease_sec=self.config.lease_sec, tracer=self.tracer)

    @cached_property
    def tracer(self) -> Tracer:
        """Records the spans of tasks, if tracing is on."""
        return tracer_for(on=self.config.tracing)

    @cached_property
    def websub(self) -> services.WebSub:
        """WebSub subscriptions and deliveries, for the crawl and the API."""
        config, stores = self.config, (self.hub_subscriptions, self.registry, self.frontier)
        return services.WebSub(stores, config.public_url, sha1=config.push_sha1, now=self.now)

    @cached_property
    def source_book(self) -> services.SourceBook:
        """The sources of the file and the API; BadSources if the file cannot be used."""
        return services.SourceBook(self.config.sources, self.stored_sources)

    @property
    def sources(self) -> Sources:
        """The sources as last read; a crawl looks for changes while it runs."""
        return self.source_book.known

    def current_sources(self) -> Sources:
        """The sources with all changes until now; raises StoreUnavailable."""
        return self.source_book.current()

    @cached_property
    def catalogue(self) -> services.Catalogue:
        """Stored articles, for readers."""
        return services.Catalogue(self.articles)

    @cached_property
    def merging(self) -> services.Merging:
        """Decides if an article is new or is merged into a known article."""
        config = self.config
        rule = Rule(config.join_similarity, config.join_min_chars)
        return services.Merging(
            self.client, self._story_stores, self.frontier, services.MergingPolicy(config.join_scope, rule)
        )

    @cached_property
    def media(self) -> services.MediaService:
        """Page records, for the API's actors and the crawl."""
        return services.MediaService(self.client, self._story_stores, self.leases, self.current_sources)

    @cached_property
    def unfetched(self) -> services.Unfetched:
        """Merges tasks into stored articles without a request."""
        stores = (self.client, self.articles, self.events, self.media)
        return services.Unfetched(*stores, self.merging, self.leases, self.repeats)

    @cached_property
    def repeats(self) -> services.Repeats:
        """Publishes stored results again for URLs that are queued again."""
        return services.Repeats(self.client, self.frontier, self.articles, self.events, self.now)

    @cached_property
    def publisher(self) -> services.Publisher:
        """Tells the configured hub of news in published feeds."""
        return services.Publisher(self.frontier, self.config.hub_url, self.config.public_url)

    @cached_property
    def gate(self) -> Gate:
        """Decides which URLs callers may submit."""
        return Gate(self.config.allow_networks, self.config.deny_ports)

    @cached_property
    def collection_service(self) -> services.CollectionService:
        """Collections, for the actors of the API."""
        return services.CollectionService(self.client, (self.articles, self.media_records, self.collections))

    @cached_property
    def merges(self) -> services.Merges:
        """Lists merges and undoes them."""
        outlets = self.article_lines, self.events
        return services.Merges(self.client, self._story_stores, outlets, self.leases, self.current_sources)

    @property
    def _story_stores(self) -> tuple[store.Articles, store.Stories, store.MediaRecords, store.Collections]:
        return self.articles, self.stories, self.media_records, self.collections

    @cached_property
    def dead_letter_service(self) -> services.DeadLetterService:
        """Dead letters, for operators and the crawl."""
        stores = self.client, self.frontier, self.dead_letters, self.articles
        return services.DeadLetterService(*stores, self._task_for, self._record_given_up)

    def _task_for(self, item: QueueItem) -> Task:
        return services.queue_task(item, self.current_sources())

    def _record_given_up(self, dead_letter: DeadLetter) -> None:
        stores = self.client, self.frontier, self.articles
        services.GivenUp(*stores, self.merging, self.media, self.files, self.events).record(dead_letter)

    @cached_property
    def snapshots(self) -> services.Snapshots:
        """Snapshots of the subscriptions on disk."""
        config = self.config
        return services.Snapshots(
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
    def dashboard(self) -> services.Dashboard:
        """The data of the dashboard's pages."""
        return services.Dashboard(
            client=self.client,
            frontier=self.frontier,
            registry=self.registry,
            entries=self.entries,
            hub_subscriptions=self.hub_subscriptions,
            series=self.series,
            dead_letters=self.dead_letters,
            catalogue=self.catalogue,
            entry_lines=self.entry_lines,
            article_lines=self.article_lines,
            now=self.now,
            queue=self.config.queue_name,
        )

    @cached_property
    def sweeper(self) -> services.Sweeper:
        """Checks that each feed has a future task."""
        return services.Sweeper(
            self.client,
            self.frontier,
            registry=self.registry,
            sitemaps=self.sitemaps,
            hub_subscriptions=self.hub_subscriptions,
            worker=self.worker,
        )

    @cached_property
    def imports(self) -> services.Imports:
        """Imports lists of URLs and feeds from callers."""
        stores = (self.client, self.frontier, self.registry, self.articles, self.import_jobs)
        return services.Imports(*stores, self.repeats, self.gate, self.config, self.now, self.current_sources)

    @cached_property
    def source_stores(self) -> services.SourceStores:
        """The stores that change when sources are applied."""
        stores = self.registry, self.sitemaps, self.site_searches, self.frontier
        return services.SourceStores(*stores, self.now, self.config.source_search_again_sec)

    @cached_property
    def fleet_stores(self) -> services.FleetStores:
        """The stores that a scrape of the fleet's metrics reads."""
        stores = (self.client, self.frontier, self.registry, self.dead_letters, self.events)
        config = self.config
        return services.FleetStores(*stores, self.now, config.queue_name, config.circuit_waits_sec, self.search_index)

    @cached_property
    def replay(self) -> services.Replay:
        """Extracts archived pages anew."""
        return services.Replay(
            services.ReplayStores(
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
    def search(self) -> services.Search:
        """Searches the index of articles."""
        return services.Search(self.search_index)

    def indexer(self) -> services.Consumer | None:
        """A consumer that keeps the embedded search index; None if it is not in use."""
        if self.config.search == "off" or self.config.search_url:
            return None
        stores = (self.embedded_index, self.events, self.article_lines, self._documents, self.now)
        config = self.config
        return services.indexer(services.EmbeddedIndexStores(*stores, config.events_ttl_sec, config.keep_articles_days))

    @cached_property
    def server_indexing(self) -> services.ServerIndexStores:
        """The stores with which the index of a search server is kept."""
        stores = (self.server_index, self.events, self.article_lines, self._documents, self.now)
        return services.ServerIndexStores(*stores, self.config.keep_articles_days)

    @property
    def _documents(self) -> services.Documents:
        return services.Documents(self.articles, self.current_sources)

    @cached_property
    def submissions(self) -> services.Submissions:
        """Enqueues many article tasks."""
        return services.Submissions(self.client, self.articles, self.leases)

    @cached_property
    def files(self) -> services.FileService:
        """Media files of entries and articles."""
        config = self.config
        known = store.Files(self.client, life_sec=config.remember_sec, shards=config.shards)
        stores = (known, self.articles, self.file_lines)
        return services.FileService(config, stores, self.leases, store.FileContents(config.data_dir))

    @cached_property
    def parsers(self) -> parsing.ParserPool:
        """The child processes in which documents are parsed."""
        config = self.config
        return parsing.ParserPool(
            config.parsers, cpu_sec=config.parser_cpu_sec, memory_bytes=config.parser_memory_bytes
        )

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
    def tempo(self) -> services.Tempo:
        """The cadence with the tempo that keeps the fleet's budget of polls."""
        return services.Tempo(self.registry, self.cadence, self.config.polls_per_hour)

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
