from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from feedcrawl.crawl.stats import PlainStats


def test_values_are_those_of_scrapys_collector() -> None:
    plain, scrapys = (collector(Crawler(Spider)) for collector in (PlainStats, MemoryStatsCollector))
    for stats in (plain, scrapys):
        stats.inc_value("a")
        stats.inc_value("a", 2)
        stats.inc_value("b", count=3, start=4)
        stats.set_value("c", "x")
        stats.max_value("d", 5)
        stats.min_value("d", 4)
    assert plain.get_stats() == scrapys.get_stats() == {"a": 3, "b": 7, "c": "x", "d": 4}
    assert plain.get_value("none", 1) == 1
