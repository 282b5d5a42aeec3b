"""The test origin in a process of its own: `python tests/site/serve.py --hosts 50 --feeds 2000`.

Prints the URL of a list of feeds, one URL per line, and serves until its standard input is closed. Each feed answers
304 to a request with the validator `"1"`, and a small RSS document to any other.
"""

from __future__ import annotations

import argparse
import sys

from documents import items, rss
from origin import OriginServer, document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--feeds", type=int, default=2000)
    options = parser.parse_args()
    server = OriginServer()
    origin = server.fresh()
    sites = [origin.site() for _ in range(options.hosts)]
    feed = document(rss(items(5, sites[0].url())), content_type="application/rss+xml", etag='"1"')
    urls = [sites[number % options.hosts].serve(f"/feed-{number}", feed) for number in range(options.feeds)]
    control = origin.site("127.0.0.1", address="127.0.0.1")
    print(control.serve("/feeds.txt", document("\n".join(urls), content_type="text/plain")), flush=True)  # noqa: T201
    sys.stdin.read()
    server.close()


if __name__ == "__main__":
    main()
