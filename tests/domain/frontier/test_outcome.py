import re

import pytest

from feedcrawl.domain.frontier.outcome import FAILURES, Outcome, fault, given_up, judge, probe_signal, retry_wait_sec

ARTICLE_LIKE = ("article", "page", "archive")
FEED_LIKE = ("feed", "sitemap", "websub")

# Every status, in ranges: (first, last, kind, host signal, fate of an article, failure code, dead letter)
STATUSES = [
    (-1, 199, "unstable", "soft", "retry", "FAIL_HTTP", True),
    (200, 299, "fetched", "ok", "done", None, False),
    (300, 300, "unusable", "ok", "dead", "FAIL_HTTP", True),
    (301, 303, "redirect", "ok", "follow", None, False),
    (304, 304, "not_modified", "ok", "done", None, False),
    (305, 306, "unusable", "ok", "dead", "FAIL_HTTP", True),
    (307, 308, "redirect", "ok", "follow", None, False),
    (309, 399, "unusable", "ok", "dead", "FAIL_HTTP", True),
    (400, 409, "rejected", "ok", "dead", "FAIL_HTTP", True),
    (410, 410, "gone", "ok", "dead", "FAIL_HTTP", True),
    (411, 428, "rejected", "ok", "dead", "FAIL_HTTP", True),
    (429, 429, "throttled", "throttled", "give_back", "FAIL_HTTP", True),
    (430, 499, "rejected", "ok", "dead", "FAIL_HTTP", True),
    (500, 501, "unstable", "soft", "retry", "FAIL_HTTP", True),
    (502, 504, "unreachable", "site", "give_back", "FAIL_HTTP", True),
    (505, 599, "unstable", "soft", "retry", "FAIL_HTTP", True),
    (600, 1_000, "unstable", "soft", "retry", "FAIL_HTTP", True),
]

NAMES = [
    ("dns", "unreachable", "site", "give_back", "FAIL_HTTP", True),
    ("refused", "unreachable", "site", "give_back", "FAIL_HTTP", True),
    ("unreachable", "unreachable", "site", "give_back", "FAIL_HTTP", True),
    ("connect_timeout", "unreachable", "site", "give_back", "FAIL_TIMEOUT", True),
    ("tls", "unreachable", "site", "give_back", "FAIL_HTTP", True),
    ("read_timeout", "unstable", "soft", "retry", "FAIL_TIMEOUT", True),
    ("total_timeout", "unstable", "soft", "retry", "FAIL_TIMEOUT", True),
    ("connection_lost", "unstable", "soft", "retry", "FAIL_HTTP", True),
    ("truncated", "unstable", "soft", "retry", "FAIL_HTTP", True),
    ("protocol", "unstable", "soft", "retry", "FAIL_HTTP", True),
    ("unasked_304", "unstable", "ok", "retry", "FAIL_HTTP", True),
    ("redirect_loop", "unusable", "ok", "dead", "FAIL_HTTP", True),
    ("too_many_redirects", "unusable", "ok", "dead", "FAIL_HTTP", True),
    ("bad_redirect", "unusable", "ok", "dead", "FAIL_HTTP", True),
    ("too_large", "unusable", "ok", "dead", "FAIL_BAD_HTML", True),
    ("bad_encoding", "unusable", "ok", "dead", "FAIL_BAD_HTML", True),
    ("unsupported_type", "unusable", "ok", "dead", "FAIL_BAD_HTML", True),
    ("type_mismatch", "unusable", "ok", "dead", "FAIL_BAD_HTML", True),
    ("bad_html", "unusable", "ok", "dead", "FAIL_BAD_HTML", True),
    ("empty", "unusable", "ok", "dead", "FAIL_EMPTY", True),
    ("not_a_feed", "unusable", "ok", "dead", "FAIL_PARSE", True),
    ("not_a_sitemap", "unusable", "ok", "dead", "FAIL_PARSE", True),
    ("parse_failed", "unusable", "ok", "dead", "FAIL_PARSE", True),
    ("parse_timeout", "unusable", "ok", "dead", "FAIL_PARSE", True),
    ("address_refused", "forbidden", None, "dead", "FAIL_HTTP", True),
    ("invalid_url", "forbidden", None, "dead", "FAIL_HTTP", True),
    ("robots_blocked", "forbidden", None, "dead", "FAIL_HTTP", False),
    ("robots_unavailable", "postponed", None, "give_back", None, False),
    ("robots_elsewhere", "postponed", None, "give_back", None, False),
    ("crawl_delay", "postponed", None, "give_back", None, False),
    ("circuit_open", "postponed", None, "give_back", None, False),
    ("own_outage", "postponed", None, "give_back", None, False),
    ("store_lost", "postponed", None, "give_back", None, False),
    ("proxy_failed", "postponed", None, "give_back", None, False),
    ("route_down", "postponed", None, "give_back", None, False),
    ("bind_failed", "postponed", None, "give_back", None, False),
    ("proxy_refused", "unstable", None, "retry", "FAIL_HTTP", True),
    ("shutdown", "postponed", None, "give_back", None, False),
    ("a bug of ours", "unstable", None, "retry", "FAIL_PARSE", True),
]

ROWS = [
    (status, *row, f"http_{status}" if 200 <= status < 600 else "protocol")
    for first, last, *row in STATUSES
    for status in range(first, last + 1)
] + [(name, *row, name) for name, *row in NAMES]


def test_the_tables_of_this_test_cover_every_status_and_failure():
    assert [row[0] for row in ROWS if isinstance(row[0], int)] == list(range(-1, 1_001))
    assert {row[0] for row in NAMES} - {"a bug of ours"} == set(FAILURES)


@pytest.mark.parametrize("task_kind", ARTICLE_LIKE)
def test_articles(task_kind):
    for result, kind, signal, fate, failure, dead_letter, reason in ROWS:
        assert judge(result, task_kind=task_kind) == Outcome(kind, signal, fate, reason, failure, dead_letter), result


@pytest.mark.parametrize("task_kind", FEED_LIKE)
def test_feeds_are_never_dead(task_kind):
    for result, kind, signal, fate, _, _, reason in ROWS:
        goes_on = fate in ("done", "follow") or kind == "postponed"
        expected = Outcome(kind, signal, fate if goes_on else "reschedule", reason)
        assert judge(result, task_kind=task_kind) == expected, result


def test_reasons_are_codes():
    for result, *_ in ROWS:
        if result != "a bug of ours":
            assert re.fullmatch(r"[a-z0-9_]+", judge(result, task_kind="article").reason)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (200, "ok"),
        (301, "ok"),
        (403, "ok"),
        (404, "ok"),
        (405, "ok"),
        (429, "ok"),
        (500, "ok"),
        (502, "site"),
        (503, "site"),
        (504, "site"),
        (999, "site"),
        ("refused", "site"),
        ("read_timeout", "site"),
        ("protocol", "site"),
    ],
)
def test_the_signal_of_a_probe(result, expected):
    assert probe_signal(result) == expected


def test_retries():
    assert [retry_wait_sec(1.5, attempts) for attempts in (0, 1, 2, 3, 30, 2000)] == [1.5, 3, 6, 12, 86_400, 86_400]
    assert retry_wait_sec(100_000, 5) == 100_000


def test_a_given_up_task_is_dead():
    for result, fate in ((500, "dead"), (503, "dead"), ("read_timeout", "dead"), (404, "dead"), (200, "done")):
        assert given_up(judge(result, task_kind="article")).fate == fate
    assert given_up(judge("shutdown", task_kind="article")).fate == "give_back"
    assert given_up(judge(500, task_kind="feed")).fate == "reschedule"


@pytest.mark.parametrize(
    ("result", "whose"),
    [
        (200, "none"),
        (304, "none"),
        (301, "none"),
        (404, "publisher"),
        (429, "publisher"),
        (503, "publisher"),
        (999, "publisher"),
        ("dns", "publisher"),
        ("read_timeout", "publisher"),
        ("too_large", "publisher"),
        ("robots_blocked", "none"),
        ("circuit_open", "none"),
        ("shutdown", "none"),
        ("own_outage", "ours"),
        ("store_lost", "ours"),
        ("proxy_failed", "ours"),
        ("proxy_refused", "ours"),
        ("TypeError", "ours"),
    ],
)
def test_the_fault_of_each_outcome(result: int | str, whose: str) -> None:
    assert {fault(judge(result, task_kind=kind)) for kind in ("feed", "article")} == {whose}
