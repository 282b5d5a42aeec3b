"""The test origin in a process of its own: `python tests/site/serve.py --hosts 50 --feeds 2000`.

Prints the URL of a list of feeds, one URL per line, and serves until its standard input is closed. Each feed answers
304 to a request with the validator `"1"`, and a small RSS document to any other. With `--entries` each feed has so many
of its own, whose pages are there.
"""

from __future__ import annotations

import argparse
import sys

from documents import FIRST_DAY, items, page, paragraphs, rss
from origin import OriginServer, Site, document, html


def serve_feed(site: Site, number: int, entries: int) -> str:
    """The URL of a feed, its pages served too."""
    for each in range(entries):
        name = f"article-{number}-{each}"
        site.serve(f"/{name}", html(page(f"About {name}", paragraphs(name, count=4), published=FIRST_DAY)))
    listed = items(entries, site.url(), seed=number) if entries else items(5, site.url())
    return site.serve(f"/feed-{number}", document(rss(listed), content_type="application/rss+xml", etag='"1"'))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--feeds", type=int, default=2000)
    parser.add_argument("--entries", type=int, default=0)
    options = parser.parse_args()
    server = OriginServer()
    origin = server.fresh()
    sites = [origin.site() for _ in range(options.hosts)]
    urls = [serve_feed(sites[number % options.hosts], number, options.entries) for number in range(options.feeds)]
    control = origin.site("127.0.0.1", address="127.0.0.1")
    print(control.serve("/feeds.txt", document("\n".join(urls), content_type="text/plain")), flush=True)  # noqa: T201
    sys.stdin.read()
    server.close()


if __name__ == "__main__":
    main()
