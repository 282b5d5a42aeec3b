"""The errors that reading hostile input may end in.

Each carries a reason code that reaches log, metric and journal unchanged.

    Refusal (ValueError)
    ├── InvalidUrl      a URL that may not be used: no host, other scheme, malformed
    ├── NotAFeed        bytes that are no feed, with what they were instead
    ├── NotASitemap     bytes that are no sitemap
    └── NoArticle       a page without an article that may be stored

Raised by `domain/` alone and caught where bytes enter (`parsing.py`, spiders, commands, API); nothing else is
expected to come out of a parser, and anything else is a bug.
"""


class Refusal(ValueError):
    """Input that was understood and refused.

    `code` is the machine-readable reason (`not_a_feed`, `FAIL_EMPTY`, …), `detail` says what was found and what was
    expected. Both are plain strings, so that a refusal crosses process borders.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}" if self.detail else self.code


class InvalidUrl(Refusal):
    """A URL that names nothing which may be fetched or identified."""


class NotAFeed(Refusal):
    """A document that is no feed; `code` tells what it was (`html`, `login_page`, `empty`, `json`, …)."""


class NotASitemap(Refusal):
    """A document that is no sitemap; `code` tells what it was."""


class NoArticle(Refusal):
    """A page without a storable article; `code` is one of the five failure codes, `detail` the particular cause."""


class ConfigError(ValueError):
    """A setting that cannot be used; the text names the setting and the expected value."""
