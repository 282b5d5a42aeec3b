import pytest

from feedcrawl.domain.articles.file_types import is_accepted, may_be, media_type, patterns
from feedcrawl.domain.errors import Refusal


@pytest.mark.parametrize(
    ("header", "kind"),
    [(None, ""), ("", ""), (" Image/PNG ; q=1", "image/png"), ("text/html;charset=utf-8", "text/html")],
)
def test_media_type(header: str | None, kind: str) -> None:
    assert media_type(header) == kind


def test_patterns() -> None:
    assert patterns("Image/*, application/pdf,,") == ("image/*", "application/pdf")
    for text in ("image", "*/*", "image/", "image/p*", "image/png; q=1"):
        with pytest.raises(Refusal, match="bad_type"):
            patterns(text)


@pytest.mark.parametrize(
    ("declared", "accepted", "possible"),
    [
        ("image/png", True, True),
        ("image/", True, True),
        ("application/pdf", True, True),
        ("application/pdfx", False, False),
        ("imagex/png", False, False),
        ("", False, True),
        ("application/octet-stream", False, True),
    ],
)
def test_accepted_types(declared: str, accepted: bool, possible: bool) -> None:
    types = ("image/*", "application/pdf")
    assert is_accepted(declared, types) is accepted
    assert may_be(declared, types) is possible
