"""`scrapy crawl articles`: a pure worker. Polls nothing and fetches the pages that other programs put into the
frontier.
"""

from __future__ import annotations

from feedcrawl.spiders.base import FrontierSpider, switch


class ArticlesSpider(FrontierSpider):
    """Arguments: `forever=1` keeps running when nothing is due. Input: `crawler_queue`, category links, and the
    frontier.
    """

    name = "articles"
    lanes = ("page",)

    def __init__(self, forever: str = "", **kwargs: str) -> None:
        super().__init__(**kwargs)
        self.forever = switch("forever", forever)
