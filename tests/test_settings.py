import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from scrapy.settings import Settings as ScrapySettings
from scrapy_process import REPOSITORY, Run, clean_environment

from feedcrawl import settings
from feedcrawl.config import Config, ConfigError, check, own_settings
from feedcrawl.domain.operations.settings import Setting
from feedcrawl.settings import from_environment

NAMES = [setting.name for setting in own_settings]

# A value of each setting that is not its default, and what Config makes of it.
OTHERS: dict[str, tuple[str, object]] = {
    "DATA_DIR": ("elsewhere", REPOSITORY / "elsewhere"),
    "RAW": ("off", False),
    "REDACT_EMAILS": ("yes", True),
    "REDIS_UNSAFE": ("yes", True),
    "CONTACT": ("https://example.org/bot", "https://example.org/bot"),
    "ALLOW_NETWORKS": ("127.1.0.0/16,10.0.0.0/8", "127.1.0.0/16,10.0.0.0/8"),
    "HOSTS_FILE": ("hosts", Path("hosts")),
    "BIND_ADDRESSES": ("127.0.0.11,::1", "127.0.0.11,::1"),
    "QUEUE_NAME": ("urls", "urls"),
    "DLQ_NAME": ("letters", "letters"),
    "DENY_PORTS": ("8000,9000", "8000,9000"),
    "REDIS_FSYNC": ("always", "always"),
    "ROBOTS_ON_ERROR": ("disallow", "disallow"),
    "CADENCE": ("baseline", "baseline"),
    "FAIRNESS": ("0.25", 0.25),
    "EWMA_ALPHA": ("0.25", 0.25),
    "BLEND_LAMBDA": ("0.25", 0.25),
    "JITTER_RATIO": ("0.25", 0.25),
    "MAX_INTERVAL_SEC": ("7200", 7200.0),
    "LEASE_SEC": ("90", 90.0),
    "SOURCES": ("sources.yaml", Path("sources.yaml")),
    "PARSER_PROCESSES": ("3", 3),
    "RENDER": ("never", "never"),
    "IMAGE_PROXY": ("/media/image?url=", "/media/image?url="),
    "JOIN_SCOPE": ("off", "off"),
    "JOIN_SIMILARITY": ("0.25", 0.25),
    "KAFKA_BOOTSTRAP": ("kafka-1:9092,kafka-2:9092", "kafka-1:9092,kafka-2:9092"),
    "KAFKA_WEBPAGE_TOPIC": ("pages", "pages"),
    "KAFKA_ENTRY_TOPIC": ("entries", "entries"),
    "KAFKA_SECURITY": ("sasl_ssl", "sasl_ssl"),
    "KAFKA_CA_FILE": ("ca.pem", Path("ca.pem")),
    "KAFKA_CERT_FILE": ("cert.pem", Path("cert.pem")),
    "KAFKA_KEY_FILE": ("key.pem", Path("key.pem")),
    "KAFKA_SASL_MECHANISM": ("SCRAM-SHA-512", "SCRAM-SHA-512"),
    "KAFKA_USERNAME": ("ada", "ada"),
    "KAFKA_PASSWORD": ("s3cret", "s3cret"),
    "WEBHOOK_URLS": ("https://a.example/", "https://a.example/"),
    "WEBHOOK_SECRET": ("s3cret", "s3cret"),
    "WEBHOOK_EVENTS": ("new_entry", "new_entry"),
    "SEARCH": ("off", "off"),
    "SEARCH_URL": ("https://search.example:9200", "https://search.example:9200"),
    "SEARCH_INDEX": ("articles", "articles"),
    "SEARCH_USERNAME": ("ada", "ada"),
    "SEARCH_PASSWORD": ("s3cret", "s3cret"),
    "SEARCH_CA_FILE": ("ca.pem", Path("ca.pem")),
    "API_HOST": ("::1", "::1"),
    "API_OPEN_METRICS": ("yes", True),
    "API_OPEN_FEEDS": ("yes", True),
    "PUBLIC_URL": ("https://push.example/base", "https://push.example/base"),
    "HUB_URL": ("https://hub.example/", "https://hub.example/"),
    "PUSH_SHA1": ("yes", True),
    "MEDIA_FILES": ("on", True),
    "MEDIA_TYPES": ("image/png,audio/*", "image/png,audio/*"),
    "BROWSER": ("chromium", Path("chromium")),
    "METRICS_HOST": ("0.0.0.0", "0.0.0.0"),
    "TRACING": ("yes", True),
    "LOG_FORMAT": ("json", "json"),
    "LOG_LEVEL": ("DEBUG", "DEBUG"),
}
WAYS = [(setting, *OTHERS.get(setting.name.removeprefix("FEEDCRAWL_"), ("29", 29))) for setting in own_settings]


def config(given: dict[str, object]) -> Config:
    made = ScrapySettings(from_environment({}), priority="project")
    made.update(given, priority="cmdline")
    return Config.from_settings(made)


def field(setting: Setting) -> str:
    return setting.name.removeprefix("FEEDCRAWL_").lower()


@pytest.mark.parametrize(("setting", "text", "value"), WAYS, ids=NAMES)
def test_each_setting_is_read_from_environment_and_command_line(setting: Setting, text: str, value: object) -> None:
    by_environment = ScrapySettings(from_environment({setting.name: text}), priority="project")
    assert getattr(Config.from_settings(by_environment), field(setting)) == value
    assert getattr(config({setting.name: text}), field(setting)) == value
    assert getattr(config({}), field(setting)) != value
    by_environment.set(setting.name, setting.default, priority="cmdline")
    assert getattr(Config.from_settings(by_environment), field(setting)) == getattr(config({}), field(setting))


def test_a_setting_is_declared_by_a_field_of_config() -> None:
    assert [each.name for each in fields(Config)] == [field(setting) for setting in own_settings]
    assert all(setting.meaning and setting.unit and setting.section for setting in own_settings)


def test_an_empty_variable_counts_as_missing() -> None:
    assert from_environment(dict.fromkeys(NAMES, "")) == from_environment({})
    assert "REDIS_URL" not in from_environment({"REDIS_URL": ""})


def test_the_environment_configures_redis() -> None:
    values = from_environment({"REDIS_URL": "redis://127.0.0.1/3", "REDIS_PORT": "7", "HOME": "/"})
    assert values["REDIS_URL"], values["REDIS_PORT"] == ("redis://127.0.0.1/3", "7")
    assert "HOME" not in values


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("FEEDCRAWL_DATA_DRI", "FEEDCRAWL_DATA_DIR"),
        ("FEEDCRAWL_HOSTS_DELAY_SEC", "FEEDCRAWL_HOST_DELAY_SEC"),
        ("FEEDCRAWL_LINGER", "FEEDCRAWL_LINGER_SEC"),
        ("FEEDCRAWL_max_attempts", None),
        ("FEEDCRAWL_", None),
        ("FEEDCRAWL_ZZZ", None),
        ("PAGE_FETCHER_LINGER_SEC", "FEEDCRAWL_LINGER_SEC"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest(name: str, nearest: str | None) -> None:
    message = re.escape(f"{name} is no setting; the nearest is {nearest or ''}")
    with pytest.raises(ValueError, match=message):
        check(iter([name]))
    with pytest.raises(ConfigError, match=message):
        config({name: "1"})
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(ScrapySettings(from_environment({name: "1"})))


THEIRS = [(name, setting.name) for setting in own_settings for name in setting.also] + [
    ("REDIS_URL", "REDIS_URL"),
    ("MAX_XML_DEPTH", "256"),
]


GIVEN = [(f"{prefix}{name.upper()}", here) for prefix in ("FEEDCRAWL_", "PAGE_FETCHER_") for name, here in THEIRS]


@pytest.mark.parametrize(("name", "here"), [each for each in GIVEN if each[0] not in NAMES])
def test_a_setting_of_another_program_is_refused_with_our_name(name: str, here: str) -> None:
    theirs = name.removeprefix("FEEDCRAWL_").removeprefix("PAGE_FETCHER_")
    message = f"^{name} is no setting; {theirs} of other programs is .*{here}.* here"
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(ScrapySettings(from_environment({name: "1"})))


def test_other_names_are_ignored() -> None:
    check(iter(["HOST_RPS", "max_retries", "HOME", "feedcrawl", "SCRAPY_PROJECT", "MY_FEEDCRAWL_DATA_DRI", *NAMES]))


@pytest.mark.parametrize(
    ("setting", "environment"), [([], {"FEEDCRAWL_LINGR_SEC": "1"}), (["-s", "FEEDCRAWL_LINGR_SEC=1"], {})]
)
def test_a_crawl_does_not_start_with_a_misspelt_name(
    scrapy_run, setting: list[str], environment: dict[str, str]
) -> None:
    run: Run = scrapy_run("crawl", "feeds", *setting, env=environment)
    assert run.code != 0
    assert "FEEDCRAWL_LINGR_SEC is no setting; the nearest is FEEDCRAWL_LINGER_SEC" in run.err


def test_the_module_reads_its_own_environment() -> None:
    code = "from feedcrawl import settings as s; print(s.FEEDCRAWL_TAKE_BATCH, s.FEEDCRAWL_LEASE_SEC, s.REDIS_URL)"
    environment = clean_environment() | {"FEEDCRAWL_TAKE_BATCH": "7", "REDIS_URL": "redis://127.0.0.1"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["7", "60.0", "redis://127.0.0.1"]


def test_only_the_settings_module_and_the_program_touch_the_environment() -> None:
    package = REPOSITORY / "feedcrawl"
    readers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\bos\.(environ|getenv)\b", path.read_text(encoding="utf-8"))
    }
    passes_on = "store/redis/embedded.py"  # the server process gets the environment, with one variable more
    assert readers == {"settings.py", "__main__.py", passes_on}


def test_each_setting_is_read_by_its_name() -> None:
    sources = [path for path in (REPOSITORY / "feedcrawl").rglob("*.py") if path.name != "settings.py"]
    named = {
        name for path in sources for name in re.findall(r'"(FEEDCRAWL_[A-Z_]+)"', path.read_text(encoding="utf-8"))
    }
    assert named <= set(NAMES)


def test_components_that_are_named_exist() -> None:
    from scrapy.utils.misc import load_object

    groups = (
        settings.DOWNLOADER_MIDDLEWARES,
        settings.SPIDER_MIDDLEWARES,
        settings.ITEM_PIPELINES,
        settings.EXTENSIONS,
    )
    paths = [path for group in groups for path in group]
    paths += [settings.SCHEDULER, settings.TWISTED_DNS_RESOLVER, *settings.ADDONS]
    assert all(callable(load_object(path)) for path in paths)


# --- the page ---


def test_the_page_names_no_other_setting() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")
    assert set(re.findall(r"FEEDCRAWL_[A-Z0-9_]*[A-Z0-9]", page)) - set(NAMES) == {"FEEDCRAWL_DATA_DRI"}


def test_the_page_knows_the_names_of_other_programs() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")
    others = """
        redis_url input_queue dlq_queue request_timeout_seconds max_retries retry_backoff_base_seconds user_agent
        max_redirects cache_ttl_seconds rate_limit_per_second circuit_breaker_failure_threshold
        circuit_breaker_initial_backoff_seconds circuit_breaker_max_backoff_seconds circuit_breaker_backoff_multiplier
        robots_txt_cache_ttl_seconds poll_timeout_seconds FETCH_TIMEOUT_MS MAX_BODY_BYTES MAX_XML_DEPTH
        SCHED_MIN_INTERVAL_SEC SCHED_MAX_INTERVAL_SEC SCHED_JITTER_RATIO HOST_MAX_CONCURRENCY HOST_RPS min_interval_sec
        max_interval_sec up_factor b_up down_factor b_down ewma_alpha blend_lambda jitter_ratio backoff_base
        backoff_cap_sec
    """
    assert [name for name in others.split() if f"`{name}`" not in page] == []
