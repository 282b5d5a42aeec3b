import pytest

from feedcrawl.console.operations.crawl import unknown_argument
from feedcrawl.spiders.base import FrontierSpider, switch
from feedcrawl.spiders.feeds import FeedsSpider


class Plain(FrontierSpider):
    name = "plain"


class Further(FeedsSpider):
    name = "further"

    def __init__(self, *, more: str = "", **kwargs: str) -> None:
        super().__init__(**kwargs)


@pytest.mark.parametrize(
    ("spider", "given", "message"),
    [
        (FeedsSpider, ["feeds", "category", "now", "forever"], None),
        (FeedsSpider, ["_job", "_version"], None),
        (
            FeedsSpider,
            ["fedes"],
            "feeds takes no argument 'fedes'; did you mean 'feeds'? it takes: backfill, category,",
        ),
        (
            FeedsSpider,
            ["feeds", "zzz"],
            "feeds takes no argument 'zzz'; it takes: backfill, category, feeds, forever, now",
        ),
        (Further, ["more", "feeds"], None),
        (Further, ["mroe"], "further takes no argument 'mroe'; did you mean 'more'?"),
        (Plain, ["x"], "plain takes no argument 'x'; it takes: none"),
    ],
)
def test_arguments_are_those_that_a_spider_names(spider: type, given: list[str], message: str | None) -> None:
    answer = unknown_argument(spider, dict.fromkeys(given, ""))
    assert answer == message if message is None else answer is not None and answer.startswith(message)


@pytest.mark.parametrize(
    ("word", "on"), [("1", True), ("YES", True), ("on", True), ("", False), ("0", False), (" no", False)]
)
def test_switches(word: str, on: bool) -> None:
    assert switch("now", word) is on


def test_a_switch_has_two_positions() -> None:
    with pytest.raises(ValueError, match="now=soon is neither on nor off: write now=1 or now=0"):
        switch("now", "soon")
