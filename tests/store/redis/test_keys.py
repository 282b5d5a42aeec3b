import inspect

import pytest

from feedcrawl.store.redis import keys


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (keys.category_links("tech"), "rss:category_links:tech"),
        (keys.article("00ff"), "rss:article_canonical:00ff"),
        (keys.articles_by_category("tech"), "rss:articles_by_category:tech"),
        (keys.webpage("ab" * 32), "webpage:" + "ab" * 32),
        (keys.robots("example.org"), "robots:example.org"),
        (keys.queue_taken("host-1"), "{crawler_queue}:taken:host-1"),
        (keys.queue_taken("host-1", "urls"), "{urls}:taken:host-1"),
        (keys.queues_taken(), "*crawler_queue*:taken:*"),
        (keys.queues_taken("a*[b]?"), r"*a\*\[b\]\?*:taken:*"),
        (keys.shard(), "fc:{0}:"),
        (keys.shard(17), "fc:{17}:"),
        (keys.CANONICAL_ATTEMPTED, "rss:canonical_attempted"),
        (keys.ARTICLE_INDEX, "rss:article_canonical_index"),
        (keys.CANONICAL_FAILURES, "rss:canonical_failures"),
        (keys.CRAWLER_QUEUE, "crawler_queue"),
        (keys.DEAD_LETTERS, "page_fetcher_dlq"),
        (keys.EVENTS, "feedcrawl:events"),
    ],
)
def test_names_that_other_programs_know(made: str, name: str) -> None:
    assert made == name


def test_no_name_is_given_twice() -> None:
    constants = [value for name, value in vars(keys).items() if name.isupper()]
    others = (keys.shard, keys.shard_number)
    functions = [function for _, function in inspect.getmembers(keys, inspect.isfunction) if function not in others]
    names = constants + [function("x") for function in functions]
    assert len(set(names)) == len(names)


def test_bookkeeping_of_the_page_cache_is_no_page() -> None:
    sha256 = "0" * 64
    for name in (keys.PAGE_CACHE_INDEX, keys.PAGE_CACHE_SIZES, keys.PAGE_CACHE_BYTES):
        assert len(name) < len(keys.webpage(sha256))


@pytest.mark.parametrize("number", [0, 7, 12])
def test_a_key_tells_its_shard(number: int) -> None:
    assert keys.shard_number(f"{keys.shard(number)}journal:{{1}}") == number
