"""Settings of the API, push, metrics, traces and logs."""

from __future__ import annotations

from dataclasses import dataclass

from feedcrawl.domain.operations.settings import setting

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ServingSettings:
    """The API, push, metrics, traces and logs."""

    api_host: str = setting("127.0.0.1", "address", "on which `scrapy api` listens", section="API and push")
    api_port: int = setting(8000, "port", "on which `scrapy api` listens", at_least=1, at_most=65_535)
    api_rate: float = setting(
        12000, "requests a minute", "of one token or address, at each process of the API; 0 = any number"
    )
    api_write_rate: float = setting(600, "requests a minute", "of these that change data; 0 = any number")
    api_max_body_bytes: int = setting(1 << 20, "bytes", "of JSON that is sent to the API")
    api_max_upload_bytes: int = setting(16 << 20, "bytes", "of a list or file that is sent to the API")
    api_max_feeds: int = setting(1000000, "feeds", "subscribed over the API at most; 0 = any number")
    api_open_metrics: bool = setting("false", "true or false", "`/metrics` of the API requires no token")
    api_open_feeds: bool = setting(
        "false",
        "true or false",
        "published feeds (`/articles.atom`, `/categories/…`, `/sources/…`) require no token, for readers and hubs",
    )
    public_url: str | None = setting(
        None, "URL", "at which hubs reach the API; without it no hub is requested to deliver"
    )
    hub_url: str | None = setting(
        None,
        "URL",
        "of a WebSub hub at which readers of published feeds may subscribe (`rel=hub`), and which is notified of news; "
        "takes effect with `FEEDCRAWL_PUBLIC_URL` alone",
    )
    push_sha1: bool = setting("false", "true or false", "accept deliveries signed with SHA-1, as some hubs still do")
    metrics_host: str = setting("127.0.0.1", "address", "on which a worker serves its metrics", section="Metrics")
    metrics_port: int = setting(
        0, "port", "of `/metrics` for Prometheus, one for each worker of a machine; 0 = none", at_most=65_535
    )
    tracing: bool = setting(
        "false",
        "true or false",
        "export spans by OpenTelemetry to `OTEL_EXPORTER_OTLP_ENDPOINT`",
        section="Tracing",
    )
    log_format: str = setting(
        "console", "console or json", "form of log lines", section="Logs", choices=("console", "json")
    )
    log_level: str | None = setting(
        None,
        "level",
        "lowest level that is logged; unset: INFO as JSON and into LOG_FILE, WARNING in the form for people",
        choices=LOG_LEVELS,
    )
