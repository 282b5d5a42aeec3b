"""The source of a URL: its settings hold for the URL, whichever feed or caller named the URL first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.urls import canonicalize, hostname, registered_domain

if TYPE_CHECKING:
    from feedcrawl.domain.sites.sources import Source


def source_of(url: str, sources: Iterable[Source], named: str | None = None) -> Source | None:
    """The source of a URL among `sources`, whose base URLs have the URL's registered domain; None if there are none.

    The most specific source is chosen: one whose base URL has the URL's own host (`www.` aside), then the longest base
    path below which the URL lies. Among equals the source `named` by the feed or sitemap is chosen, else the first.
    """
    page = canonicalize(url, keep_trailing_slash=True)
    ranked = ((_closeness(page, source.base_url), source.name == named, source) for source in sources)
    return max(ranked, key=lambda each: each[:2], default=(None, None, None))[2]


class Sources(Mapping[str, "Source"]):
    """Sources by name, in order; immutable. `of` finds the source of a URL without reading all of them."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._by_name = {source.name: source for source in sources}
        self._by_domain: dict[str, list[Source]] = {}
        for source in self._by_name.values():
            self._by_domain.setdefault(_domain(source.base_url), []).append(source)

    def of(self, url: str, named: str | None = None) -> Source | None:
        """The source of a URL; if the URL is of no source, the source `named` by the feed or sitemap that has it.

        Raises InvalidUrl.
        """
        found = self._by_domain.get(_domain(url)) if self._by_domain else None
        if found is None:
            return self.get(named or "")
        owner = found[0] if len(found) == 1 else source_of(url, found, named)
        return owner or self.get(named or "")

    def keeps_trailing_slash(self, url: str, named: str | None) -> bool:
        """True if this URL with and without a trailing slash are two pages. Raises InvalidUrl."""
        source = self.of(url, named)
        return source is not None and source.keep_trailing_slash

    def delays_sec(self) -> dict[str, float | None]:
        """The delay between two requests to any host, by registered domain: the longest of the domain's sources."""
        return {
            domain: max((each.delay_sec for each in sources if each.delay_sec is not None), default=None)
            for domain, sources in self._by_domain.items()
        }

    def __getitem__(self, name: str) -> Source:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Sources({list(self._by_name)})"


def _domain(url: str) -> str:
    return registered_domain(hostname(url))


def _closeness(url: str, base: str) -> tuple[bool, int]:
    """The rank of a base URL for a URL: same host, and length of the common path (-1: not below it)."""
    page, home = urlsplit(url), urlsplit(canonicalize(base, keep_trailing_slash=True))
    folder = home.path.rstrip("/")
    if "." in folder.rpartition("/")[2]:  # a file, such as /index.html
        folder = folder.rpartition("/")[0]
    below = page.path.rstrip("/") == folder or page.path.startswith(f"{folder}/")
    return _host(page.netloc) == _host(home.netloc), len(folder) if below else -1


def _host(netloc: str) -> str:
    return netloc.removeprefix("www.")
