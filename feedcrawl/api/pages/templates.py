"""The dashboard's templates and their helpers. Text from the web is inserted as text, never as markup."""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode, urlsplit

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from feedcrawl import __version__
from feedcrawl.domain.cadence.reasons import duration, in_words
from feedcrawl.domain.operations.display import shortened
from feedcrawl.hints import program

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLE: Final = (files(__package__) / "style.css").read_bytes()
ICON: Final = (files(__package__) / "icon.svg").read_bytes()
STYLE_PATH: Final = f"/dashboard/style.css?v={sha256(STYLE).hexdigest()[:12]}"
STYLE_SOURCE: Final = f"'sha256-{b64encode(sha256(STYLE).digest()).decode()}'"
"""Permits the style sheet inside a page (CSP). A sandboxed frame has no origin: its request for one is cross-site."""
POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without a policy, browsers also hide the origin of forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC_HEADERS: Final = {"Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
LONGEST: Final = 300
"""Characters of a text from the web in a list."""
_PICTURE: Final = re.compile(r'<img(?:[^>"]|"[^"]*")*>')
_ALT: Final = re.compile(r'\balt="([^"]*)"')
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def render(name: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """A page."""
    return HTMLResponse(_environment.get_template(name).render(values), status, HEADERS)


def when(value: str | float | datetime | None) -> datetime | None:
    """The time of RFC 3339 text or a Unix time; None for other values."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        return datetime.fromtimestamp(value, UTC) if value else None
    except (ValueError, OverflowError, OSError):
        return None


def ago(value: str | float | datetime | None, now: datetime) -> str:
    """`12 min ago`, `in 3 h`, `now`; a dash for None."""
    at = when(value)
    if at is None:
        return "–"
    seconds = (at - now).total_seconds()
    if abs(seconds) < 1:
        return "now"
    words = duration(abs(seconds)) if abs(seconds) < 86_400 else f"{abs(seconds) / 86_400:.0f} d"
    return f"in {words}" if seconds > 0 else f"{words} ago"


def number(value: float | None) -> str:
    """`12 345`, `3.2`; a dash for None."""
    if value is None:
        return "–"
    whole = abs(value) >= 100 or value == int(value)
    return f"{value:,.0f}".replace(",", "\u202f") if whole else f"{value:.2g}" if abs(value) < 10 else f"{value:.0f}"


def size(value: float) -> str:
    """`1.2 MB`, in powers of a thousand."""
    power = 0
    while value >= 999.5 and power < len(_UNITS) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {_UNITS[power]}"


def share(part: float, whole: float) -> str:
    """`42 %`; a dash if the whole is 0."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    return f"{percent:.1f} %" if 0 < percent < 10 or 99 < percent < 100 else f"{percent:.0f} %"


def short(value: object, longest: int = LONGEST) -> str:
    """A text of the web in one line, no longer than so many characters."""
    text = " ".join("".join(each if each.isprintable() else " " for each in str(value)).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def middle(value: object, longest: int) -> str:
    """A text in one line, cut in its middle: both the host and the end of a URL are seen."""
    return shortened(short(value, 2 * LONGEST), longest)


def web(value: object) -> str | None:
    """A URL that may be linked (http or https with a host); None for any other."""
    text = str(value or "")
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return text if parts.scheme in ("http", "https") and parts.netloc and text.isprintable() else None


def without_pictures(html: str) -> Markup:
    """Sanitised HTML with pictures replaced by their alternative texts, so that reading it sends no request."""
    return Markup(_PICTURE.sub(_in_words, html))  # noqa: S704 - the sanitiser's own output, and escaped text


def _in_words(picture: re.Match[str]) -> str:
    alt = _ALT.search(picture[0])
    return f"<em>[{alt[1] if alt and alt[1].strip() else 'picture'}]</em>"


def query(**values: object) -> str:
    """A query string of the values that are not empty."""
    text = urlencode({name: str(value) for name, value in values.items() if value})
    return f"?{text}" if text else ""


def segment(value: object) -> str:
    """A text as one segment of a path."""
    return quote(str(value), safe="")


_environment = Environment(
    loader=PackageLoader(__package__, ""),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update(
    duration=duration,
    in_words=in_words,
    middle=middle,
    number=number,
    segment=segment,
    short=short,
    size=size,
    web=web,
    when=when,
)
_environment.globals.update(
    ago=ago,
    query=query,
    share=share,
    style=STYLE_PATH,
    style_text=Markup(STYLE.decode()),  # noqa: S704 - the package's own file
    program=program,
    version=__version__,
)
