import pytest

from feedcrawl.domain.models import ParsedFeed


@pytest.mark.parametrize(
    ("notes", "truncated"),
    [((), False), (("unclosed_element",), False), (("title_truncated",), False), (("truncated", "x"), True)],
)
def test_a_feed_is_truncated_if_its_document_has_no_end(notes: tuple[str, ...], truncated: bool) -> None:
    assert ParsedFeed("rss2.0", notes=notes).is_truncated is truncated
