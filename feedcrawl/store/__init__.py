"""Stored data, in Redis and on disk: one module for each kind of record.

The stores are imported at their first use (PEP 562): a command that lists subscriptions imports no other store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.store.articles.collections import Collections
    from feedcrawl.store.articles.files import FILES_FOLDER, FileContents, Files
    from feedcrawl.store.articles.media import MediaRecords
    from feedcrawl.store.articles.records import Articles, Lifetimes
    from feedcrawl.store.articles.stories import Stories
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.frontier.dead_letters import DeadLetters
    from feedcrawl.store.frontier.hosts import Hosts
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.frontier.queue import Shard
    from feedcrawl.store.frontier.scripts import FrontierPolicy, ScopePace
    from feedcrawl.store.frontier.shards import Shards
    from feedcrawl.store.operations.cached_responses import CachedResponses
    from feedcrawl.store.operations.import_jobs import ImportJobs
    from feedcrawl.store.operations.series import Series
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.operations.tokens import Tokens
    from feedcrawl.store.push.websub import HubSubscriptions
    from feedcrawl.store.search.embedded import INDEX_FOLDER, EmbeddedIndex
    from feedcrawl.store.search.interface import SearchIndex
    from feedcrawl.store.search.server import ServerIndex
    from feedcrawl.store.sites.site_runs import SiteRuns
    from feedcrawl.store.sites.site_searches import SiteSearches
    from feedcrawl.store.sites.sitemaps import Sitemaps
    from feedcrawl.store.sites.sources import StoredSources
    from feedcrawl.store.subscriptions.entries import Entries
    from feedcrawl.store.subscriptions.registry import Registry

__all__ = [
    "FILES_FOLDER",
    "INDEX_FOLDER",
    "Articles",
    "CachedResponses",
    "Collections",
    "DeadLetters",
    "EmbeddedIndex",
    "Entries",
    "Events",
    "FileContents",
    "Files",
    "Frontier",
    "FrontierPolicy",
    "Hosts",
    "HubSubscriptions",
    "ImportJobs",
    "Lifetimes",
    "MediaRecords",
    "NdjsonFile",
    "Registry",
    "ScopePace",
    "SearchIndex",
    "Series",
    "ServerIndex",
    "Shard",
    "Shards",
    "SiteRuns",
    "SiteSearches",
    "Sitemaps",
    "StoredSources",
    "Stories",
    "Tokens",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
