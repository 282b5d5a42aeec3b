import math
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.config import Config, ConfigError
from feedcrawl.folders import located
from feedcrawl.settings import from_environment


def config(**given: Any) -> Config:
    return Config.from_settings(from_environment({}) | {f"FEEDCRAWL_{name}": value for name, value in given.items()})


def test_defaults_are_usable_and_fixed() -> None:
    defaults = config()
    assert (defaults.data_dir, defaults.host_delay_sec, defaults.lease_sec) == (located(Path("data")), 1.0, 60.0)
    assert (defaults.contact, defaults.hosts_file, defaults.fairness) == (None, None, None)
    with pytest.raises(FrozenInstanceError):
        defaults.lease_sec = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("first", "multiplier", "longest", "expected"),
    [
        (30, 2, 300, (30, 60, 120, 240, 300)),
        (10, 3, 100, (10, 30, 90, 100)),
        (30, 1.5, 60, (30, 45, 60)),
        (30, 2, 30, (30,)),
    ],
)
def test_the_waits_of_a_circuit(first: float, multiplier: float, longest: float, expected: tuple[float, ...]) -> None:
    given = config(CIRCUIT_FIRST_WAIT_SEC=first, CIRCUIT_MULTIPLIER=multiplier, CIRCUIT_MAX_WAIT_SEC=longest)
    assert given.circuit_waits_sec == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"CIRCUIT_MULTIPLIER": "1"}, "FEEDCRAWL_CIRCUIT_MULTIPLIER must be 1.1 or more"),
        ({"QUEUE_POLL_SEC": "0"}, "FEEDCRAWL_QUEUE_POLL_SEC must be above 0"),
        ({"QUEUE_NAME": "fc:{0}:tasks"}, "FEEDCRAWL_QUEUE_NAME must be a name without spaces"),
        ({"QUEUE_NAME": "rss:links"}, "FEEDCRAWL_QUEUE_NAME must be a name without spaces"),
        ({"DLQ_NAME": "two words"}, "FEEDCRAWL_DLQ_NAME must be a name without spaces"),
        ({"DLQ_NAME": "crawler_queue"}, "FEEDCRAWL_DLQ_NAME must be another list than FEEDCRAWL_QUEUE_NAME"),
    ],
)
def test_names_and_numbers_of_queues_and_circuits(given: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**given)


def test_settings_that_are_missing_have_their_default() -> None:
    assert asdict(Config.from_settings({})) == asdict(config())


def test_kinds_of_values() -> None:
    got = config(RAW="off", HOST_CONCURRENCY="2", LINGER_SEC="0.5", DATA_DIR="~/x", FAIRNESS="1", PARSER_PROCESSES=None)
    assert got.raw is False
    assert (got.host_concurrency, got.linger_sec, got.fairness) == (2, 0.5, 1.0)
    assert got.data_dir == Path.home() / "x"
    assert isinstance(got.host_concurrency, int)
    assert got.parsers >= 1
    assert config(PARSER_PROCESSES=3).parsers == 3


@pytest.mark.parametrize("text", ["1", "true", "TRUE", "yes", "on", True, 1])
def test_words_for_true(text: Any) -> None:
    assert config(REDIS_UNSAFE=text).redis_unsafe is True


@pytest.mark.parametrize("text", ["0", "false", "No", "off", False, 0])
def test_words_for_false(text: Any) -> None:
    assert config(RAW=text).raw is False


BAD = [
    ("RAW", "maybe", "must be on or off, not 'maybe'"),
    ("RAW", "", "must be given"),
    ("DATA_DIR", "", "must be given"),
    ("DATA_DIR", None, "must be given"),
    ("DATA_DIR", False, "must be a path, not False"),
    ("HOSTS_FILE", "~no-such-user-here/hosts", "must be a path, not '~no-such-user-here/hosts'"),
    ("LEASE_SEC", "a minute", "must be a number, not 'a minute'"),
    ("LEASE_SEC", "60s", "must be a number, not '60s'"),
    ("LEASE_SEC", "", "must be given"),
    ("LEASE_SEC", "nan", "must be a number, not 'nan'"),
    ("REMEMBER_SEC", "inf", "must be 0 or more"),
    ("HOST_CONCURRENCY", "1.5", "must be a whole number, not '1.5'"),
    ("HOST_CONCURRENCY", 1.5, "must be a whole number, not 1.5"),
    ("HOST_CONCURRENCY", math.inf, "must be a whole number, not inf"),
    ("HOST_CONCURRENCY", "0", "must be 1 or more"),
    ("MAX_ATTEMPTS", 0, "must be 1 or more"),
    ("TAKE_BATCH", 0, "must be 1 or more"),
    ("MEDIA_TYPES", "image", "must be media types such as image/* or audio/mpeg"),
    ("MEDIA_TYPES", " , ", "must be media types such as image/* or audio/mpeg"),
    ("CIRCUIT_FAILURES", 0, "must be 1 or more"),
    ("CIRCUIT_FIRST_WAIT_SEC", 0, "must be above 0"),
    ("CIRCUIT_MAX_WAIT_SEC", "inf", "must be 0 or more"),
    ("HOST_DELAY_SEC", "-1", "must be 0 or more"),
    ("PAGE_CACHE_MAX_BYTES", "256M", "must be a whole number, not '256M'"),
    ("FETCH_TIMEOUT_SEC", 60, "must be above 0 and below FEEDCRAWL_LEASE_SEC"),
    ("ARTICLE_TIMEOUT_SEC", 0, "must be above 0 and below FEEDCRAWL_LEASE_SEC"),
    ("SITEMAP_TIMEOUT_SEC", 61, "must be above 0 and below FEEDCRAWL_LEASE_SEC"),
    ("ROBOTS_TIMEOUT_SEC", 100, "must be above 0 and below FEEDCRAWL_LEASE_SEC"),
    ("FAIRNESS", 1.1, "must be from 0 to 1"),
    ("JITTER_RATIO", "-0.1", "must be from 0 to 1"),
    ("MIN_INTERVAL_SEC", 90_000, "must be at most FEEDCRAWL_MAX_INTERVAL_SEC"),
    ("REDIS_FSYNC", "no", "must be everysec or always"),
    ("ROBOTS_ON_ERROR", "deny", "must be allow or disallow"),
    ("CADENCE", "", "must be baseline or learned"),
    ("LOG_FORMAT", "xml", "must be console or json"),
    ("LOG_LEVEL", "loud", "must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD, ids=[f"{name}={value}" for name, value, _ in BAD])
def test_an_unusable_value_is_refused_by_name(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        config(**{name: value})
    assert str(error.value) == f"FEEDCRAWL_{name} {message}"


@pytest.mark.parametrize("name", ["CONTACT", "HOSTS_FILE", "FAIRNESS", "PARSER_PROCESSES"])
def test_an_empty_optional_value_is_none(name: str) -> None:
    assert getattr(config(**{name: ""}), name.lower()) is None


@given(value=st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), data=st.data())
def test_any_value_is_read_or_refused_with_its_name(value: Any, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(from_environment({}))))
    try:
        Config.from_settings(from_environment({}) | {name: value})
    except ConfigError as error:
        assert "FEEDCRAWL_" in str(error)  # noqa: PT017 - most values are fine


@pytest.mark.parametrize(
    ("first", "longest", "waits"),
    [
        (30, 300, (30, 60, 120, 240, 300)),
        (30, 30, (30,)),
        (30, 10, (30,)),
        (1, 8, (1, 2, 4, 8)),
        (0.5, 0.75, (0.5, 0.75)),
    ],
)
def test_waits_of_a_circuit_double_up_to_the_longest(first: float, longest: float, waits: tuple[float, ...]) -> None:
    made = config(CIRCUIT_FIRST_WAIT_SEC=first, CIRCUIT_MAX_WAIT_SEC=longest)
    assert made.circuit_waits_sec == waits


def test_time_limits_without_a_value_follow_a_shorter_lease() -> None:
    short = config(LEASE_SEC=10, ROBOTS_TIMEOUT_SEC=9)
    assert (short.fetch_timeout_sec, short.render_timeout_sec, short.robots_timeout_sec) == (8.0, 8.0, 9.0)
    assert config(LEASE_SEC=60).sitemap_timeout_sec == 50.0
