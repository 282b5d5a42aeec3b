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
    ],
)
def test_the_first_day_that_is_not_a_day_of_change(text: str, expected: str | None) -> None:
    page = read_page(f"<html lang=en><body><h1>Story</h1><p>{'word ' * 60}</p></body></html>", "https://a.test/story")
    assert date_in(text, page) == expected
