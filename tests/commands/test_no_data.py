"""Commands that only read, where there is no data directory."""

from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    "words",
    [
        ("feeds",),
        ("why", "http://a.test/"),
        ("opml",),
        ("dlq", "list"),
        ("frontier",),
        ("merges",),
        ("unsubscribe", "http://a.test/"),
        ("export", "articles"),
        ("replay",),
        ("restore",),
    ],
)
def test_reading_makes_none(call: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    code, out, err = call(*words, REDIS_URL=None)
    assert (code, out) == (2, "")
    assert f"there is no data directory {tmp_path / 'data'}: `scrapy subscribe URL`" in err
    assert "FEEDCRAWL_DATA_DIR" in err
    assert not (tmp_path / "data").exists()


def test_a_configured_server_needs_no_data_directory(call: Call, tmp_path: Path) -> None:
    assert call("feeds", "--json") == (0, "[]\n", "")
    assert not (tmp_path / "data").exists()
