from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http import hints

NOW = datetime(2024, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("60", 60),
        (" 60\n", 60),
        ("60.0", 60),
        ("60 min", 60),
        ("0", None),
        ("-5", None),
        ("1_000", None),
        ("٦٠", None),
        ("soon", None),
        ("99999999999", None),
        ("", None),
        (None, None),
    ],
)
def test_ttl(text, minutes):
    assert hints.ttl_minutes(text) == minutes


def test_hours_and_days_to_skip():
    assert hints.skip_hours(["0", " 7 ", "24", "25", "-1", "x", "٣"]) == {0, 7}
    assert hints.skip_hours(["24"]) == {0}
    assert hints.skip_days(["Saturday", "sun", " MONDAY ", "Someday", ""]) == {"Sat", "Sun", "Mon"}


@pytest.mark.parametrize(
    ("period", "frequency", "sec"),
    [
        ("hourly", "1", 3_600),
        ("hourly", "2", 1_800),
        (" Hourly\n", None, 3_600),
        ("hour", "x", 3_600),
        ("daily", "0", 86_400),
        ("dayly", "1", 86_400),
        ("weekly", "-1", 604_800),
        ("monthly", "1", 2_592_000),
        ("yearly", "1", 31_536_000),
        (None, "4", 21_600),
        ("", "", None),
        (None, None, None),
        ("often", "1", None),
        ("hourly", "100000", 1),
    ],
)
def test_update_period(period, frequency, sec):
    assert hints.update_period_sec(period, frequency) == sec


@pytest.mark.parametrize(
    ("value", "sec"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("0", 0),
        ("99999999999999", 86_400),
        ("Mon, 01 Jan 2024 12:02:00 GMT", 120),
        ("Monday, 01-Jan-24 12:02:00 GMT", 120),
        ("Mon Jan  1 12:02:00 2024", 120),
        ("Mon, 01 Jan 2024 11:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("", None),
        (None, None),
        ("-5", None),
        ("+5", None),
        ("1.5", None),
        ("1e9", None),
        ("1_000", None),
        ("١٢٠", None),
        ("²", None),
        ("120, 240", None),
        ("Mon, 01 Jan 2024 12:02:00", None),
        ("Mon, 01 Jan 2024 12:02:00 +0000", None),
        ("Mon, 1 Jan 2024 12:02:00 GMT", None),
        ("Mon, 31 Feb 2024 12:02:00 GMT", None),
        ("Mon, 01 Jan 2024 12:60:00 GMT", None),
        ("2024-01-01T12:02:00Z", None),
        ("soon", None),
    ],
)
def test_retry_after(value, sec):
    assert hints.retry_after_sec(value, now=NOW) == sec


@given(st.text() | st.integers().map(str) | st.datetimes().map(lambda date: date.strftime("%a, %d %b %Y %H:%M:%S GMT")))
def test_retry_after_is_a_day_at_most(value):
    sec = hints.retry_after_sec(value, now=NOW)
    assert sec is None or 0 <= sec <= 86_400


DATE = "Mon, 01 Jan 2024 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "sec"),
    [
        ({}, None),
        ({"Cache-Control": "public"}, None),
        ({"Cache-Control": "max-age=600"}, 600),
        ({"cache-control": 'Public, MAX-AGE="600" , must-revalidate'}, 600),
        ({"Cache-Control": "max-age=600", "Age": "200"}, 400),
        ({"Cache-Control": "max-age=600", "Age": "900"}, 0),
        ({"Cache-Control": "max-age=600", "Age": "-1"}, 600),
        ({"Cache-Control": "s-maxage=300"}, 300),
        ({"Cache-Control": "s-maxage=31536000, max-age=60"}, 60),
        ({"Cache-Control": "max-age=60, max-age=600"}, 60),
        ({"Cache-Control": "max-age=-1"}, 0),
        ({"Cache-Control": "max-age"}, 0),
        ({"Cache-Control": "max-age=99999999999999999999"}, 2**31),
        ({"Cache-Control": "no-cache, max-age=600"}, 0),
        ({"Cache-Control": "no-store"}, 0),
        ({"Expires": "Mon, 01 Jan 2024 13:00:00 GMT", "Date": DATE}, 3_600),
        ({"Expires": "Mon, 01 Jan 2024 11:00:00 GMT", "Date": DATE}, 0),
        ({"Expires": "0", "Date": DATE}, 0),
        ({"Expires": "Mon, 01 Jan 2024 13:00:00 GMT"}, None),
        ({"Expires": "Mon, 01 Jan 2024 13:00:00 GMT", "Date": DATE, "Cache-Control": "max-age=5"}, 5),
    ],
)
def test_freshness(headers, sec):
    assert hints.max_age_sec(headers) == sec


@given(st.text(), st.text(max_size=12))
def test_freshness_is_never_negative(control, age):
    sec = hints.max_age_sec({"Cache-Control": control, "Age": age})
    assert sec is None or sec >= 0


def test_http_dates_are_exact():
    assert hints.http_date("Sun, 06 Nov 1994 08:49:37 GMT") == datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)
    assert hints.http_date("Sunday, 06-Nov-94 08:49:37 GMT") == datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)
    assert hints.http_date("Sun Nov  6 08:49:37 1994") == datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)
    assert hints.http_date("Sat, 31 Dec 2016 23:59:60 GMT") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert hints.http_date("6 Nov 1994") is None
