# ruff: noqa: RUF001 -- words and digits of other scripts
from datetime import UTC, datetime, timedelta, timezone

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.dates import EARLIEST, LATEST, believable, moment, parse_date, rfc3339, rfc3339_or_none


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        # RFC 822 and its relatives
        ("Mon, 01 Jan 2024 10:20:30 GMT", "2024-01-01T10:20:30"),
        ("Sat, 01 Jan 2024 10:20:30 GMT", "2024-01-01T10:20:30"),
        ("1 Jan 24 10:20 EST", "2024-01-01T15:20:00"),
        ("1 Jan 99 10:20 UT", "1999-01-01T10:20:00"),
        ("Mon,1 January 2024 10:20:30 +0530", "2024-01-01T04:50:30"),
        ("Mon, 01 Jan 2024 10:20:30 -01:01", "2024-01-01T11:21:30"),
        ("Mon, 01 Jan 2024 10:20:30 GMT+0200 (CEST)", "2024-01-01T08:20:30"),
        ("Mon, 01 Jan 2024 10:20:30 GMT+0000 (Coordinated Universal Time)", "2024-01-01T10:20:30"),
        ("Mon, 01 Jul 2024 10:20:30 Europe/Berlin", "2024-07-01T08:20:30"),
        ("Mon, 01 Jan 2024 10:20:30 MEZ", "2024-01-01T09:20:30"),
        ("Monday, 01-Jan-24 10:20:30 GMT", "2024-01-01T10:20:30"),
        ("Mon Jan  1 10:20:30 2024", "2024-01-01T10:20:30"),
        ("Mon Jan 01 10:20:30 +0100 2024", "2024-01-01T09:20:30"),
        ("Mon, 01 Jan 2024", "2024-01-01T00:00:00"),
        # RFC 3339, W3CDTF, ISO 8601
        ("2024-01-02+02:00", "2024-01-01T22:00:00"),
        ("2024-01-02-05:00", "2024-01-02T05:00:00"),
        ("2024-01-02 10:20:30.77 +0300 +03", "2024-01-02T07:20:30"),
        ("2024-01-02 10:20:30 -0430 -0430 m=+0.0012", "2024-01-02T14:50:30"),
        ("2024-01-02 10:20:30 +0300 MSK m=+81.5", "2024-01-02T07:20:30"),
        ("２０２４年１月２日 １０：２０", "2024-01-02T10:20:00"),
        ("2024-01-02T10:20:30−05:00", "2024-01-02T15:20:30"),
        ("Mon, 01 Jan 2024 10:20:30 -040", "2024-01-01T14:20:30"),
        ("Mon, 01 Jan 2024 10:20:30 +530", "2024-01-01T04:50:30"),
        ("2024-01-01T10:20:30Z", "2024-01-01T10:20:30"),
        ("2024-01-01t10:20:30.123456789+01:00", "2024-01-01T09:20:30"),
        ("2024-01-01 10:20:30 -0020", "2024-01-01T10:40:30"),
        ("2024-01-01T10:20", "2024-01-01T10:20:00"),
        ("2024-01-01T10:20:30-05:00Z", "2024-01-01T15:20:30"),
        ("2024-01-01", "2024-01-01T00:00:00"),
        ("2024-02", "2024-02-01T00:00:00"),
        ("2024", "2024-01-01T00:00:00"),
        ("20240101T102030Z", "2024-01-01T10:20:30"),
        ("2024-060", "2024-02-29T00:00:00"),
        ("03-12-31", "2003-12-31T00:00:00"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59"),
        ("2024-01-01T24:00:00Z", "2024-01-02T00:00:00"),
        ("2024-01-01T10:20:30-05:00[America/New_York]", "2024-01-01T15:20:30"),
        ("2024-07-01T10:20:30[America/New_York]", "2024-07-01T14:20:30"),
        ("2024-01-01 10.20.30", "2024-01-01T10:20:30"),
        ("Mon, 01 Jan 2024 10.20.30 +0100", "2024-01-01T09:20:30"),
        ("01.01.2024 10.20", "2024-01-01T10:20:00"),
        # Unix time
        ("/Date(1704104430000)/", "2024-01-01T10:20:30"),
        ("/Date(1704104430123+0100)/", "2024-01-01T10:20:30"),
        ("1704104430", "2024-01-01T10:20:30"),
        ("1704104430123", "2024-01-01T10:20:30"),
        # numeric
        ("2024/01/02 10:20", "2024-01-02T10:20:00"),
        ("01/02/2024 10:20:30 PM", "2024-01-02T22:20:30"),
        ("31/01/2024 - 10:20", "2024-01-31T10:20:00"),
        ("2.1.2024", "2024-01-02T00:00:00"),
        ("10:20 02.01.2024 +0100", "2024-01-02T09:20:00"),
        # words
        ("January 2, 2024, 12:05 a.m.", "2024-01-02T00:05:00"),
        ("Jan. 2nd, 2024 at 3pm EST", "2024-01-02T20:00:00"),
        ("Dienstag, 2. März 2021 - 12:30 Uhr", "2021-03-02T12:30:00"),
        ("mar., 01 déc. 2020 16:11:02 +0000", "2020-12-01T16:11:02"),
        ("mar, 02 mars 2021 16:11:02 +0000", "2021-03-02T16:11:02"),
        ("2 de enero de 2024", "2024-01-02T00:00:00"),
        ("wt., 02 stycznia 2024 10:20:30 +0100", "2024-01-02T09:20:30"),
        ("ср, 3 января 2024 г., 10:20", "2024-01-03T10:20:00"),
        ("Κυρ, 11 Ιούλ 2004 12:00:00 EST", "2004-07-11T17:00:00"),
        ("2004-július-13T9:15-05:00", "2004-07-13T14:15:00"),
        ("2 Ocak 2024 10:20", "2024-01-02T10:20:00"),
        ("2024년 01월 02일 10:20:30", "2024-01-02T01:20:30"),
        ("2024-01-02 오후 11:23:17", "2024-01-02T14:23:17"),
        ("2024年1月2日 10:20", "2024-01-02T10:20:00"),
    ],
)
def test_instants(text, instant):
    assert parse_date(text) == datetime.fromisoformat(instant).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "12",
        "013",
        "22013",
        "Mon, 16 Dec 2012 1:2:3:4 GMT",
        "Mon, 16 zzz 2012 11:47:32 GMT",
        "Mon, 16 Dec 2012 11:47:32 +00:zz",
        "Mon, 99 Jun 2009 12:00:00 GMT",
        "2024-06-31T10:00:00Z",
        "2023-02-29",
        "2024-13-01T10:00:00Z",
        "2024-01-01T25:00:00Z",
        "2024-01-01T10:61:00Z",
        "2024-01-01T10:00:61Z",
        "2024-01-01T10:00:00+99:99",
        "2024-01-01T10:00:00-06:00Textra",
        "2024-01-27-01",
        "2024-366-1",
        "Mon, 01 Jan 2024 10:20:30 Nowhere/Atlantis",
        "Mon, 01 Jan 2024 10:20:30 ../../etc/passwd",
        "٢٠٢٤-٠١-٠١",
        "1 " * 50_000,
        "9" * 100_000,
        "\0",
    ],
)
def test_a_text_that_is_no_date_gives_none(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(
    "text",
    ["0001-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT", "1989-12-31T23:59:59Z", "2100-01-01", "9999-12-31"],
)
def test_a_date_out_of_range_gives_none(text):
    assert parse_date(text) is None


MOMENTS = st.integers(int(EARLIEST.timestamp()), int(LATEST.timestamp()) - 1).map(
    lambda sec: datetime.fromtimestamp(sec, UTC)
)


@given(
    MOMENTS,
    st.sampled_from(["%Y-%m-%dT%H:%M:%SZ", "%a, %d %b %Y %H:%M:%S GMT", "%A, %B %d, %Y %I:%M:%S %p", "%Y%m%dT%H%M%S"]),
)
def test_every_spelling_of_a_moment_is_that_moment(moment, spelling):
    assert parse_date(moment.strftime(spelling)) == moment


@given(st.text(max_size=60) | st.text("0123456789-+:/., TZJanFebMonGMTpmh", max_size=40))
def test_any_text_is_a_date_in_range_or_none(text):
    found = parse_date(text)
    assert found is None or (EARLIEST <= found < LATEST and found.utcoffset() == timedelta(0))


def test_a_date_is_believed_up_to_a_day_ahead():
    now = datetime(2024, 1, 1, tzinfo=UTC)
    assert believable(now + timedelta(hours=24), now) == now + timedelta(hours=24)
    assert believable(now + timedelta(hours=24, seconds=1), now) is None
    assert believable(None, now) is None


@pytest.mark.parametrize(
    ("at", "precision", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "auto", "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=UTC), "auto", "2026-01-02T03:04:05.000060Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "auto", "2026-01-02T01:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "milliseconds", "2026-01-02T03:04:05.000Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC), "seconds", "2026-01-02T03:04:05Z"),
    ],
)
def test_dates_are_in_utc(at, precision, text):
    assert rfc3339(at, precision) == text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime(2026, 11, 27, 12, tzinfo=UTC), "2026-11-27T12:00:00Z"),
        (None, None),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), "9999-12-31T23:59:59Z"),
    ],
)
def test_moments_as_text(at, text):
    assert rfc3339_or_none(at) == text
    assert moment(text) == at


def test_a_date_that_utc_cannot_express_is_none():
    assert rfc3339_or_none(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) is None


@pytest.mark.parametrize("piece", [".", "a.", "1 ", "12:", "+00:00", "Mon, "])
def test_a_long_text_is_no_date_and_takes_linear_time(piece):
    def run(times: int) -> None:
        assert parse_date(f"{piece * times} 2024-03-01") is None

    assert_linear(run, 6_000)
