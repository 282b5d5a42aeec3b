"""Scrapy's settings for this project; the project's own are declared in `config/`.

The only module that reads the environment: each declared setting, and the few that scrapy-redis brings, may be given as
an environment variable of the same name; `-s NAME=value` and a spider's settings override the variable.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from feedcrawl.config import own_settings
from feedcrawl.domain.operations.settings import OTHER_PREFIX, PREFIX
from feedcrawl.folders import data_outside_projects, project_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

REDIS_ENVIRONMENT = ("REDIS_URL", "REDIS_HOST", "REDIS_PORT")
"""scrapy-redis's own connection settings that the environment may give too."""


def from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """Each of our settings, from the environment or its default, and scrapy-redis's that the environment has.

    An unknown name with our prefix is included, so that `Config` can refuse it with a sentence. An empty variable
    counts as unset, since container files write unset variables so. Outside a project the data directory is the
    user's.
    """
    values: dict[str, object] = {each.name: each.default for each in own_settings}
    if project_folder() is None:
        values["FEEDCRAWL_DATA_DIR"] = str(data_outside_projects())
    values.update(
        {name: value for name, value in environment.items() if name.startswith((PREFIX, OTHER_PREFIX)) and value}
    )
    values.update({name: environment[name] for name in REDIS_ENVIRONMENT if environment.get(name)})
    return values


def environment() -> Mapping[str, str]:
    """The environment, for child processes and for secrets that a file names by their variable."""
    return os.environ


globals().update(from_environment(os.environ))

# --- Scrapy ---------------------------------------------------------------------------------------------------------

BOT_NAME = "feedcrawl"
SPIDER_MODULES = ["feedcrawl.spiders"]
NEWSPIDER_MODULE = "feedcrawl.spiders"
COMMANDS_MODULE = "feedcrawl.commands"
ADDONS = {"feedcrawl.addon.Addon": 0}  # derives Scrapy's settings from ours and refuses unsafe ones

LOG_LEVEL = globals()["FEEDCRAWL_LOG_LEVEL"] or "WARNING"  # default DEBUG

TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SCHEDULER = "feedcrawl.crawl.scheduler.FrontierScheduler"
SCHEDULER_PERSIST = True  # default False: a worker that closes would delete the shared frontier
TWISTED_DNS_RESOLVER = "feedcrawl.crawl.resolver.PublicResolver"
DNS_TIMEOUT = 10  # default 60
DNSCACHE_ENABLED = False  # default True: Scrapy caches for ever; the resolver keeps answers for at most a minute

CONCURRENT_REQUESTS = 64  # default 16; hosts are paced by the frontier, so this is the worker's whole width
CONCURRENT_REQUESTS_PER_DOMAIN = 64  # default 8; one host has FEEDCRAWL_HOST_CONCURRENCY across the fleet
DOWNLOAD_DELAY = 0  # the frontier paces; a delay here would hold a slot
CONCURRENT_ITEMS = 1  # default 100: Scrapy starts this many tasks for each response, and ours have one item each
ITEM_PROCESSOR = "feedcrawl.crawl.chains.items.PlainPipelines"  # Scrapy's pipelines, called without a coroutine each
LOG_FORMATTER = "feedcrawl.extensions.settle.OutageLogFormatter"  # an outage is one error, not one for each task
STATS_CLASS = "feedcrawl.crawl.stats.PlainStats"  # the same values for a third of the time
ROBOTSTXT_OBEY = True  # by middlewares/robots.py

DOWNLOAD_HANDLERS = {
    "http": "feedcrawl.crawl.download.LimitedDownloadHandler",  # bounds header sections
    "https": "feedcrawl.crawl.download.LimitedDownloadHandler",
    **dict.fromkeys(("file", "data", "s3", "ftp")),  # http and https only
}
DOWNLOAD_MAXSIZE = 10 << 20  # default 1 GiB; each kind of request carries its own
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False  # an incomplete body is archived first; the decoding middleware then refuses it
DOWNLOAD_VERIFY_CERTIFICATES = True
COOKIES_ENABLED = False
REFERER_ENABLED = False
METAREFRESH_ENABLED = False
HTTPPROXY_ENABLED = False  # default True: a proxy from the environment would resolve names without the guard
RETRY_ENABLED = False  # a retry is a task that goes back to the frontier
REDIRECT_ENABLED = True
HTTPCACHE_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
AUTOTHROTTLE_ENABLED = False
URLLENGTH_LIMIT = 2083
DEPTH_LIMIT = 0

LOGSTATS_INTERVAL = 60.0

# Requests pass from the top down, responses from the bottom up; 880 is nearest the network.
DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "feedcrawl.middlewares.push.PushMiddleware": 5,  # returns a hub's delivery, and no request is sent
    "feedcrawl.middlewares.addresses.AddressMiddleware": 10,  # first: sees robots.txt, probes and redirects too
    "feedcrawl.middlewares.circuit.CircuitMiddleware": 60,  # before robots.txt: a dead host costs one probe
    "feedcrawl.middlewares.robots.RobotsMiddleware": 100,
    "feedcrawl.middlewares.conditional.ConditionalMiddleware": 300,
    "feedcrawl.middlewares.outcome.OutcomeMiddleware": 550,  # sees final responses, after redirects
    "feedcrawl.middlewares.decoding.DecodingMiddleware": 590,  # bodies of redirects stay undecoded
    "feedcrawl.middlewares.redirects.RedirectMiddleware": 600,
    "feedcrawl.middlewares.raw.RawCaptureMiddleware": 880,  # bytes still as on the wire
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
}
SPIDER_MIDDLEWARES: dict[str, int | None] = {
    "feedcrawl.middlewares.leases.LeaseMiddleware": 20,  # outermost: ends the task after all output was passed on
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": 40,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
}
ITEM_PIPELINES: dict[str, int | None] = {
    "feedcrawl.pipelines.canonicalize.CanonicalizePipeline": 100,
    "feedcrawl.pipelines.dedupe.DedupePipeline": 200,  # needs the uid
    "feedcrawl.pipelines.disk.DiskPipeline": 300,  # before any record in Redis refers to the line
    "feedcrawl.pipelines.store.StorePipeline": 400,
    "feedcrawl.pipelines.publish.PublishPipeline": 500,  # events after the records that they name
    "feedcrawl.pipelines.commit.CommitPipeline": 900,  # the task ends last
}
EXTENSIONS: dict[str, int | None] = {
    "scrapy.extensions.telnet.TelnetConsole": None,
    "scrapy.extensions.remote_control.RemoteControl": None,
    "feedcrawl.extensions.settle.Settle": 0,
    "feedcrawl.extensions.stall.Stall": 5,
    "feedcrawl.extensions.inputs.InputExtension": 10,
    "feedcrawl.extensions.watch.Watch": 15,
    "feedcrawl.extensions.sweep.Sweep": 16,
    "feedcrawl.extensions.snapshot.Snapshot": 17,
    "feedcrawl.extensions.retention.Retention": 18,
    "feedcrawl.extensions.expiry.Expiry": 19,
    "feedcrawl.extensions.index.Index": 19,
    "feedcrawl.extensions.logs.Logs": 20,
    "feedcrawl.extensions.metrics.Metrics": 30,
    "feedcrawl.extensions.tracing.Tracing": 40,
    "feedcrawl.extensions.progress.Progress": 800,
    "feedcrawl.extensions.shutdown.Shutdown": 900,
}
FEED_EXPORTERS = {
    "json": "feedcrawl.crawl.exporters.JsonExporter",
    "jsonlines": "feedcrawl.crawl.exporters.JsonLinesExporter",
    "jsonl": "feedcrawl.crawl.exporters.JsonLinesExporter",
    "csv": "feedcrawl.crawl.exporters.CsvExporter",
    "xml": "feedcrawl.crawl.exporters.XmlExporter",
}
