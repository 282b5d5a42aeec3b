import pytest

from feedcrawl.domain.extraction.fields.seen_dates import date_in
from feedcrawl.domain.extraction.page import read_page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Written on 1 March 2026", "1 March 2026"),
        ("Updated 5 March 2026, published 1 March 2026", "1 March 2026"),
        ("İLK İLKE İZ 更新 5 March 2026 · 1 March 2026", "1 March 2026"),  # İ in lower case has two characters
        ("Updated 5 March 2026", None),
        ("© 2026-03-01", None),
        ("By Ann on 04-mar-2026 5:11:10", "04-mar-2026"),
        ("Public HealthMARCH 1, 2026Updated: MARCH 5, 2026", "MARCH 1, 2026"),
        ("- Tides and HarboursMarch 1, 2026", "HarboursMarch 1, 2026"),  # a list of other articles: no date
    ],
)
def test_the_first_day_that_is_not_a_day_of_change(text: str, expected: str | None) -> None:
    page = read_page(f"<html lang=en><body><h1>Story</h1><p>{'word ' * 60}</p></body></html>", "https://a.test/story")
    assert date_in(text, page) == expected
