"""The stores of a process; no other module constructs them."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_redis.connection import SETTINGS_PARAMS_MAP

from feedcrawl import store
from feedcrawl.config import Config, ConfigError
from feedcrawl.hints import missing, program
from feedcrawl.store.frontier.agreement import agree
from feedcrawl.store.redis.connection import Connection, connect, names_a_server
from feedcrawl.store.redis.errors import ServerRefused
from feedcrawl.store.redis.generation import Generation

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.page_records import FileRecord
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.store.redis.client import Client


class Stores:
    """The stores of one process, each constructed at its first use. `close` disconnects from the server.

    `any_server`: do not require that the server is the one recorded in the data directory.
    """

    _generation: Generation

    def __init__(self, settings: Settings, *, any_server: bool = False) -> None:
        self.config = Config.from_settings(settings)
        self.settings = settings
        self._any_server = any_server
        self.worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        """The name of this worker, which no other has."""

    @cached_property
    def connection(self) -> Connection:
        """The checked connection to Redis; raises ServerRefused, whose message states what must change."""
        connection = connect(
            url=None,
            data_dir=self.config.data_dir,
            unsafe=self.config.redis_unsafe,
            parameters=self._server(),
            fsync=self.config.redis_fsync,
        )
        with ExitStack() as undo:
            undo.callback(connection.close)
            agree(connection.client, self.config.shards)
            self._generation = Generation(connection.client, self.config.data_dir, shards=self.config.shards)
            if not self._any_server:
                self._generation.check()
            undo.pop_all()
        return connection

    def _server(self) -> dict[str, object]:
        """The connection parameters from scrapy-redis's settings."""
        parameters = self.settings.getdict("REDIS_PARAMS")
        given = {name: self.settings.get(source) for source, name in SETTINGS_PARAMS_MAP.items()}
        return {**parameters, **{name: value for name, value in given.items() if value}}

    def require_data(self) -> None:
        """Raises ServerRefused (`no_data`) if the embedded server would be used and its data directory does not
        exist.
        """
        if not names_a_server(self._server()) and not self.config.data_dir.is_dir():
            raise ServerRefused(
                "no_data",
                f"there is no data directory {self.config.data_dir}: `{program()} subscribe URL` or "
                f"`{program()} crawl feeds -a feeds=URL` makes one; if yours is elsewhere, run the command inside its "
                "project (where scrapy.cfg is) or set FEEDCRAWL_DATA_DIR",
            )

    @staticmethod
    def now() -> datetime:
        """The time of the wall clock (UTC), for dates that people and publishers see."""
        return datetime.now(UTC)

    @property
    def client(self) -> Client:
        """The connection's client."""
        return self.connection.client

    @property
    def generation(self) -> Generation:
        """Compares the id of the server's data with the id in the data directory."""
        _ = self.connection
        return self._generation

    @cached_property
    def frontier(self) -> store.Frontier:
        """All tasks."""
        config = self.config
        policy = store.FrontierPolicy(
            lease_sec=config.lease_sec,
            max_attempts=config.max_attempts,
            host_delay_sec=config.host_delay_sec,
            host_concurrency=config.host_concurrency,
            scopes={"domain": store.ScopePace(config.domain_delay_sec, config.domain_concurrency)},
            remember_sec=config.remember_sec,
            circuit_failures=config.circuit_failures,
            circuit_waits_sec=config.circuit_waits_sec,
        )
        if config.shards == 1:
            return store.Shard(self.client, policy, dlq_name=config.dlq_name)
        return store.Shards(self.client, policy, shards=config.shards, dlq_name=config.dlq_name)

    @cached_property
    def registry(self) -> store.Registry:
        """The subscribed feeds."""
        config = self.config
        return store.Registry(
            self.client,
            shards=config.shards,
            journal_length=config.journal_length,
            max_feeds=config.max_feeds,
        )

    @cached_property
    def series(self) -> store.Series:
        """Recent counts of polls and articles."""
        return store.Series(self.client, shards=self.config.shards)

    @cached_property
    def hub_subscriptions(self) -> store.HubSubscriptions:
        """WebSub subscriptions of feeds, and their deliveries."""
        return store.HubSubscriptions(self.client, shards=self.config.shards)

    @cached_property
    def sitemaps(self) -> store.Sitemaps:
        """The sitemaps that are watched."""
        return store.Sitemaps(self.client, shards=self.config.shards, journal_length=self.config.journal_length)

    @cached_property
    def stored_sources(self) -> store.StoredSources:
        """The sources that were set over the API."""
        return store.StoredSources(self.client)

    @cached_property
    def hosts(self) -> store.Hosts:
        """The robots.txt of each host."""
        return store.Hosts(self.client, robots_ttl_sec=self.config.robots_ttl_sec)

    @cached_property
    def entries(self) -> store.Entries:
        """The known entries of each feed."""
        return store.Entries(self.client, shards=self.config.shards)

    @cached_property
    def articles(self) -> store.Articles:
        """Articles by canonical URL, and claims of canonical URLs."""
        config = self.config
        lives = store.Lifetimes(
            article_sec=config.article_ttl_sec,
            category_links_sec=config.category_links_ttl_sec,
            page_sec=config.page_cache_ttl_sec,
            pages_bytes=config.page_cache_max_bytes,
        )
        return store.Articles(self.client, lives, shards=config.shards)

    @cached_property
    def stories(self) -> store.Stories:
        """Recent texts and titles, from which merges are found, and the merges."""
        return store.Stories(self.client, title_life_sec=self.config.article_ttl_sec, shards=self.config.shards)

    @cached_property
    def media_records(self) -> store.MediaRecords:
        """The page records."""
        return store.MediaRecords(self.client, life_sec=self.config.media_ttl_sec, shards=self.config.shards)

    @cached_property
    def collections(self) -> store.Collections:
        """The articles of each actor's collections."""
        return store.Collections(self.client, shards=self.config.shards)

    @cached_property
    def dead_letters(self) -> store.DeadLetters:
        """The list of dead letters."""
        return store.DeadLetters(self.client, self.config.dlq_name)

    @cached_property
    def site_searches(self) -> store.SiteSearches:
        """The results of searches for the feeds and sitemaps of sources."""
        return store.SiteSearches(self.client)

    @cached_property
    def site_runs(self) -> store.SiteRuns:
        """The crawls of sites that are running."""
        return store.SiteRuns(self.client)

    @cached_property
    def events(self) -> store.Events:
        """The stream of events."""
        return store.Events(self.client, ttl_sec=self.config.events_ttl_sec)

    @cached_property
    def tokens(self) -> store.Tokens:
        """The tokens of the API."""
        return store.Tokens(self.client)

    @cached_property
    def cached_responses(self) -> store.CachedResponses:
        """Cached responses of API requests with an idempotency key."""
        return store.CachedResponses(self.client)

    @cached_property
    def import_jobs(self) -> store.ImportJobs:
        """The progress of imports of long lists."""
        return store.ImportJobs(self.client)

    @cached_property
    def entry_lines(self) -> store.NdjsonFile[EntryRecord]:
        """The lines of entries/<day>.ndjson."""
        return store.NdjsonFile(self.config.data_dir / "entries")

    @cached_property
    def article_lines(self) -> store.NdjsonFile[ArticleFields]:
        """The lines of articles/<day>.ndjson."""
        return store.NdjsonFile(self.config.data_dir / "articles")

    @cached_property
    def file_lines(self) -> store.NdjsonFile[FileRecord]:
        """The lines of files/<day>.ndjson."""
        return store.NdjsonFile(self.config.data_dir / store.FILES_FOLDER)

    @cached_property
    def embedded_index(self) -> store.EmbeddedIndex:
        """The search index in the data directory."""
        return store.EmbeddedIndex(self.config.data_dir / store.INDEX_FOLDER)

    @cached_property
    def server_index(self) -> store.ServerIndex:
        """The search index of the configured server; ConfigError without the packages of the extra `search`."""
        config = self.config
        try:
            made = store.ServerIndex
        except ModuleNotFoundError as error:
            raise ConfigError(missing(error, "search")) from error
        name, password = config.search_username, config.search_password
        if bool(name) != bool(password):
            raise ConfigError("FEEDCRAWL_SEARCH_USERNAME and FEEDCRAWL_SEARCH_PASSWORD are needed both")
        login = (name, password) if name and password else None
        return made(config.search_url or "", config.search_index, login=login, ca_file=config.search_ca_file)

    @property
    def search_index(self) -> store.SearchIndex | None:
        """The search index in use; None if there is none."""
        if self.config.search == "off":
            return None
        return self.server_index if self.config.search_url else self.embedded_index

    def close(self) -> None:
        """Disconnects from the server; the embedded server ends with its last user."""
        if "embedded_index" in self.__dict__:
            self.embedded_index.close()
        if "server_index" in self.__dict__:
            self.server_index.close()
        if "connection" in self.__dict__:
            self.connection.close()
