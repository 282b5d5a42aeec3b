"""The errors of this project. Each carries a reason code that reaches log, metric, journal and API unchanged.

    FeedcrawlError
    ├── Refusal (ValueError)    input that was understood and refused
    │   ├── InvalidUrl          a URL that may not be used: no host, other scheme, malformed
    │   ├── NotAFeed            bytes that are no feed, with what they were instead
    │   ├── NotASitemap         bytes that are no sitemap
    │   └── NoArticle           a page without an article that may be stored
    ├── StoreUnavailable        the Redis server cannot execute a command now    (store/redis/errors.py)
    ├── ServerRefused           a Redis server that may not be used              (store/redis/errors.py)
    ├── DiskUnavailable         a file that could not be read or written         (store/disk/files.py)
    ├── IndexUnavailable        a search index that cannot answer or store now   (store/search/interface.py)
    └── TargetAway              a receiver of events that accepts none now       (services/operations/consumer.py)
    ConfigError (ValueError)    a setting that cannot be used

Refusals are raised by parsers and services and caught where input enters (`parsing/`, handlers, commands, API);
nothing else is expected to come out of a parser, and anything else is a bug.
"""

from feedcrawl.domain.secrets import without_secrets


class FeedcrawlError(Exception):
    """Base of the errors with a reason code. `code` is machine-readable, `detail` says in words what was found.

    Details quote URLs and reach logs, journals and callers; their secrets are therefore removed.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        detail = without_secrets(detail)
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}" if self.detail else self.code


class Refusal(FeedcrawlError, ValueError):
    """Input that was understood and refused.

    `code` is the machine-readable reason (`not_a_feed`, `FAIL_EMPTY`, …), `detail` says what was found and what was
    expected. Both are plain strings, so that a refusal crosses process borders.
    """


class InvalidUrl(Refusal):
    """A URL that cannot be fetched or used as an identity."""


class NotAFeed(Refusal):
    """A document that is no feed; `code` is what the document is (`html`, `login_page`, `empty`, `json`, …)."""


class NotASitemap(Refusal):
    """A document that is no sitemap; `code` is what the document is."""


class NoArticle(Refusal):
    """A page without a storable article; `code` is one of the five failure codes, `detail` the particular cause."""


class ConfigError(ValueError):
    """A setting that cannot be used; the text names the setting and the expected value."""
