import pytest

from feedcrawl.domain.archive.generation import standing


@pytest.mark.parametrize(
    ("on_disk", "in_redis", "expected"),
    [
        (None, None, "new"),
        (None, "a", "joins"),
        ("a", "a", "known"),
        ("a", None, "emptied"),
        ("a", "b", "another"),
    ],
)
def test_standing(on_disk: str | None, in_redis: str | None, expected: str) -> None:
    assert standing(on_disk, in_redis) == expected
