"""Pages that answer 200 and hold no article: walls, challenges, soft 404s, teasers, indexes.

All of them are short. A long text is an article even if it speaks of cookies.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.page import text_of
from feedcrawl.domain.extraction.structured import values
from feedcrawl.domain.extraction.titles import title_element
from feedcrawl.domain.text import canonical_text, words

if TYPE_CHECKING:
    from feedcrawl.domain.extraction.page import Page

MIN_WORDS = 3
MIN_UNSPACED_LENGTH = 20  # some scripts do not part words
WALL_LENGTH = 700
TEASER_LENGTH = 400
_INDEX_LINKS = 20
_INDEX_WORDS = 4
_INDEX_LENGTH = 1500

_WALLS = {
    "challenge": (
        r"checking (?:if the site connection|your browser)",
        r"verify(?:ing)? (?:that )?you are (?:a |not a )?(?:human|robot)",
        r"(?:are|you're) (?:you )?not a robot",
        r"attention required",
        r"just a moment\b",
        r"complete the (?:captcha|security check)",
        r"security check to access",
        r"unusual traffic from",
        r"access (?:to this page )?(?:has been |is )?denied",
        r"request (?:was )?blocked",
        r"ddos protection",
        r"enable javascript and cookies to continue",
    ),
    "javascript": (
        r"^\W*(?:\w+\W+)?(?:loading|please wait|redirecting)\W*$",
        r"(?:enable|activate|turn on|requires?|needs?|without) java ?script",
        r"java ?script (?:is|must be|seems to be|to be) (?:not )?(?:disabled|enabled|required|activated)",
        r"(?:activez|activer|activar|active|aktivieren sie) java ?script",
        r"java ?script (?:aktivieren|activado|activé)",
    ),
    "consent": (
        r"(?:value|care about|respect) your privacy",
        r"(?:we and )?our (?:\d+ )?partners",
        r"accept (?:all )?(?:the )?cookies",
        r"(?:this (?:web)?site|we) uses? cookies",
        r"manage (?:your )?(?:cookie|privacy|consent)",
        r"cookie (?:settings|preferences|consent)",
        r"alle (?:cookies )?akzeptieren",
        r"cookies (?:zulassen|akzeptieren|accepter|aceptar)",
        r"tout accepter",
        r"aceptar (?:todas las )?cookies",
        r"accetta (?:tutti )?i cookie",
    ),
    "not_found": (
        r"\b(?:error )?404\b(?! \w+ \w+ \w+)",
        r"(?:page|article|story|content|file)\b.{0,40}\b(?:not|n't|never) (?:be )?(?:found|exist|available)",
        r"could not find (?:it|the page|what)",
        r"no longer (?:available|exists)",
        r"seite (?:wurde )?(?:leider )?nicht gefunden",
        r"nicht (?:mehr )?(?:gefunden|verfügbar)",
        r"page introuvable|n'existe (?:plus|pas)",
        r"no encontrad[ao]|página no existe|pagina non trovata|não encontrada",
        r"не найдена|存在しません|見つかりません",
    ),
    "paywall": (
        r"(?:subscribe|register|sign up|log ?in|sign in)(?: now)? to (?:continue|keep|read|unlock|access|view)",
        r"already a (?:subscriber|member)",
        r"(?:for|to) (?:our )?(?:premium )?(?:subscribers|members) only",
        r"(?:nur|exklusiv) für (?:abonnenten|mitglieder)|jetzt (?:weiterlesen|abonnieren)",
        r"réservé (?:à nos|aux) abonnés",
        r"(?:exclusivo|solo|sólo) para (?:suscriptores|abonados)",
        r"会員限定",
    ),
}
_WALL_WORDS = {kind: re.compile("|".join(phrases), re.IGNORECASE | re.MULTILINE) for kind, phrases in _WALLS.items()}


def refuse_walls(page: Page, text: str, density: float = 0.0) -> None:
    """Raise NoArticle if what was found on a page is no article; its detail begins with the kind of page.

    `density` is the share of the text that is links.
    """
    if len(text) < WALL_LENGTH:
        kind = wall_kind(page, text)
        if kind:
            raise NoArticle("FAIL_EMPTY", f"{kind}: {text[:120]!r}")
    if _says_nothing(text):
        raise NoArticle("FAIL_EMPTY", f"no_text: fewer than {MIN_WORDS} words: {text!r}")
    if not page.is_declared and _is_index(page, text, density):
        raise NoArticle("FAIL_EMPTY", f"index: links to other pages around {len(text)} characters of text")


def wall_kind(page: Page, text: str) -> str | None:
    """What kind of wall a page with a short text is, None if it is none."""
    said = f"{title_element(page)}\n{_everything(page) if _says_nothing(text) else text}"
    kind = next((kind for kind, phrases in _WALL_WORDS.items() if phrases.search(said)), None)
    if kind == "paywall" and len(text) >= TEASER_LENGTH:
        return None
    if kind is None and len(text) < TEASER_LENGTH and is_paid(page):
        return "teaser"
    return kind


def is_paid(page: Page) -> bool:
    """Whether the page says that its article is not free (https://schema.org/isAccessibleForFree)."""
    free = [str(value).lower() for value in values(page.article.get("isAccessibleForFree"))]
    return (bool(free) and free[0] in {"false", "no", "0"}) or page.meta("article:content_tier") in {
        "locked",
        "metered",
    }


def _says_nothing(text: str) -> bool:
    return len(words(text)) < MIN_WORDS and len(text) < MIN_UNSPACED_LENGTH


def _everything(page: Page) -> str:
    """What a page without text shows, its advice to those without scripts included."""
    hints = " ".join(str(text) for hint in page.tree.iter("noscript") for text in hint.itertext())
    return f"{canonical_text(page.tree)[:WALL_LENGTH]}\n{hints[:WALL_LENGTH]}"


def _is_index(page: Page, text: str, density: float) -> bool:
    """Whether the headlines that lead elsewhere outweigh the text; on a front page the sooner."""
    own_length = len(text) * (1 - density)
    if own_length > _INDEX_LENGTH:
        return False
    links = [said for link in page.tree.iter("a") if len(words(said := text_of(link))) >= _INDEX_WORDS]
    parts = urlsplit(page.url)
    is_front = parts.path in {"", "/"} and not parts.query
    return len(links) >= _INDEX_LINKS and sum(map(len, links)) > (2 if is_front else 10) * own_length
