"""Use cases: the spider, the REST route and the command call the same function here.

The services of a process are imported at their first use (PEP 562): a command imports only those that it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.services.archive.replay import Replay, ReplayStores
    from feedcrawl.services.articles.catalogue import Catalogue
    from feedcrawl.services.articles.collections import CollectionService
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merges import Merges
    from feedcrawl.services.articles.merging import Merging, MergingPolicy
    from feedcrawl.services.articles.repeats import Repeats
    from feedcrawl.services.articles.submissions import Submissions
    from feedcrawl.services.articles.unfetched import Unfetched
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.services.operations.consumer import Consumer
    from feedcrawl.services.operations.dead_letters import DeadLetterService
    from feedcrawl.services.operations.fleet import FleetStores
    from feedcrawl.services.operations.given_up import GivenUp
    from feedcrawl.services.operations.imports import Imports
    from feedcrawl.services.operations.inputs import queue_task
    from feedcrawl.services.operations.overview import Dashboard
    from feedcrawl.services.operations.readiness import Readiness
    from feedcrawl.services.operations.snapshots import Snapshots
    from feedcrawl.services.operations.sweeper import Sweeper
    from feedcrawl.services.push.publishing import Publisher
    from feedcrawl.services.push.websub import WebSub
    from feedcrawl.services.search.documents import Documents
    from feedcrawl.services.search.embedded import EmbeddedIndexStores, indexer
    from feedcrawl.services.search.searching import Search
    from feedcrawl.services.search.server import ServerIndexStores
    from feedcrawl.services.sites.searching import SourceStores
    from feedcrawl.services.sites.sources import SourceBook
    from feedcrawl.services.subscriptions.tempo import Tempo

__all__ = [
    "Catalogue",
    "CollectionService",
    "Consumer",
    "Dashboard",
    "DeadLetterService",
    "Documents",
    "EmbeddedIndexStores",
    "FileService",
    "FleetStores",
    "GivenUp",
    "Imports",
    "Leases",
    "MediaService",
    "Merges",
    "Merging",
    "MergingPolicy",
    "Publisher",
    "Readiness",
    "Repeats",
    "Replay",
    "ReplayStores",
    "Search",
    "ServerIndexStores",
    "Snapshots",
    "SourceBook",
    "SourceStores",
    "Submissions",
    "Sweeper",
    "Tempo",
    "Unfetched",
    "WebSub",
    "indexer",
    "queue_task",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
