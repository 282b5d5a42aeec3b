"""Words before the name of an author, by language: "By Ann Lee", "Verfasst von", "Автор:", "作者"."""

# ruff: noqa: RUF001 -- Greek words look like Latin ones

from __future__ import annotations

import re
from typing import Final

from feedcrawl.domain.extraction.bodies.weights import remembered
from feedcrawl.domain.text import lowered

# Prepositions that begin a line only before an author; not "de", "da" or "per", which also begin other lines.
_BEFORE: Final = ("by", "byline", "von", "vom", "por", "par", "di", "door", "av", "af", "oleh")
_WROTE: Final = (
    "(?:this (?:post|article|story) (?:was|is) )?(?:written|posted|reported|published|story|words|text|article) by",
    "(?:authored|contributed|submitted|created|uploaded) by",
    "(?:an? )?(?:column|opinion|essay|commentary|analysis|review|guest post|interview) by",
    "(?:eine? )?(?:kolumne|gastkommentar|analyse|reportage|glosse|essay|interview|bericht) von",
    "(?:une? )?(?:chronique|tribune|analyse|reportage|enquête|entretien) par",
    "(?:una? )?(?:columna|crónica|análisis|reportaje|entrevista|opinión) por",
    "(?:geschrieben|verfasst|veröffentlicht|erstellt|eingestellt|gepostet|ein (?:beitrag|artikel|text)) von",
    "(?:gast)?(?:beitrag|artikel|text) von",
    "(?:écrit|rédigé|publié|posté|article|texte|propos recueillis) par",
    "(?:escrito|publicado|redactado|enviado|texto|elaborado) por",  # Spanish, Portuguese
    "(?:escrit|publicat) per",  # Catalan
    "(?:scritto|pubblicato|redatto|articolo|testo|postato) da|a cura di",
    "(?:geschreven|gepubliceerd|geplaatst|tekst) door",
    "(?:skriven|publicerad|postad|skrevet|publisert|postet|udgivet) (?:av|af)",  # Scandinavian languages
    "(?:napisane?|opublikowane?|dodane?) przez",
    "(?:написано|опубликовано|опубліковано)(?: автором)?",  # Russian, Ukrainian
    "(?:scris|publicat|postat) de(?: către)?",  # Romanian
    "(?:ditulis|diposting|dikirim) oleh",  # Indonesian, Malay
    "(?:được )?(?:viết|đăng) bởi",
    "(?:γράφει|του συντάκτη|από τον|από την)(?: \u03bf| η)?",
    "kirjoittanut",
    "napsal(?:a|\\(a\\))?|napísala?",  # Czech, Slovak
    "yazan|haberi yapan",
    "บทความโดย|เขียนโดย|โดย",
    "بقلم|كتب|كتبت|كتبها",
    "نویسنده|نوشته",
    "מאת|נכתב על ידי",
)
_TITLES: Final = (
    "authors?|writers?|reporters?|words|text",
    "autor(?:in(?:nen)?|en)?|verfasser(?:in)?|autorin/autor|autor/in|autor\\*in",
    "(?:interview\\s*(?:&|und)\\s*)?text(?:\\s*(?:&|und)\\s*(?:fotos?|interview|protokoll))?",
    "auteure?s?|rédact(?:eur|rice)|texte",
    "autor(?:es|as?)?|redactora?|texto",
    "autor[ei]|autrice|testo",
    "schrijver|tekst",
    "skribent|författare|forfatter|skrevet av",
    "autor(?:ka|zy|stvo)?|tekst",
    "автор(?:и|ы|ка)?|текст",
    "συντάκτ(?:ης|ρια)|συγγραφέας|κείμενο",
    "kirjoittaja|toimittaja|teksti",
    "szerző|írta",
    "yazar",
    "penulis|reporter",
    "tác giả",
    "लेखक|द्वारा",
    "الكاتب|المؤلف|الكاتبة",
    "작성자|글쓴이|글|기자|취재",
    "作者|撰文|記者|记者|文字|編譯|编译|整理",
    "著者|執筆者?|ライター|筆者|投稿者|文|取材・文|記事",
)
_BY: Final = "|".join((*_BEFORE, *_WROTE))
_TITLED: Final = "|".join(_TITLES)
_SIGNING: Final = re.compile(rf"^\W*(?:{_BY}|{_TITLED})")
_REPORTER: Final = "기자"
_MAX_BEFORE_REPORTER: Final = 40
SIGNED: Final = re.compile(rf"^\W*(?:{_BY})\b[:\s]+")
"""In lower case, as all patterns here: a line that begins with an author's name after one of the words."""
SIGNED_AFTER_DATE: Final = re.compile(
    r"^.{0,30}(?:\d{4}|\d{1,2}[./]\d{1,2}[./]\d{2})(?:,?\s+\d\d?:\d\d)?(?:\s+(?:uhr|h))?"
    r"\W+(?:by|von|par|por|di|door|av|af)\s+"
)
LABELLED: Final = re.compile(rf"^\W*(?:{'|'.join(_WROTE)})\b[:\s]+|^\W*(?:{_TITLED})\s*[:\uff1a\uff1d=\uff0f/]\s*")
"""A line that names its author anywhere on a page; a mere preposition does not."""
TITLED: Final = re.compile(
    r"^\W*(?:authors?|autor(?:in(?:nen)?|en|es|as?)?|auteure?s?|autor[ei]|författare|forfatter|автор(?:ы|и)?)\s+"
)
"""A line that may be nothing but its author's title and name."""
REPORTER_AFTER: Final = re.compile(
    r"^(?:\[[^\]]{2,20}\]\s*|\([^)]{2,20}\)\s*)?([\uac00-\ud7af]{2,4})\s*(?:[\uac00-\ud7af]{1,6}\s*)?기자(?:\W|$)"
)
"""A Korean signature, with the reporter's name before the word."""
_GLUED_LABEL: Final = re.compile(rf"^\W*(?:{_BY})(?=[^\W\d_])")
_TOUCHING: Final = re.compile(r"(?:[a-zß-ÿа-я]|[^\W\d_\u0000-\u04ff])(?=[A-ZÀ-ÞĀ-ſА-Я]|[^\W\d_\u0000-\u04ff])")
TOUCHING_END: Final = re.compile(
    r"(?<=[A-Z]{2})(?=(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Z]*\.? \d{1,2}, \d{4})"
    r"|(?<=[^\W\d_A-Z])(?=(?:Published|Updated|Posted|Last|Reviewed|Follow|Share|Veröffentlicht|Aktualisiert|Publié|Publicad"
    r"|Pubblicat|(?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)[a-zä]*\.? \d))"
)
_MAX_LABEL: Final = 40
_LABEL: Final = re.compile(rf"^\W*(?:{_BY}|{_TITLED}|por|de|verfasst)\W*$")


def may_be_signed(line: str) -> bool:
    """True for a line that may have an author, whichever word says so."""
    small = lowered(line)
    at = small.find(_REPORTER, 0, _MAX_BEFORE_REPORTER + len(_REPORTER))
    return at >= 0 or _SIGNING.match(small) is not None


def is_label(text: str) -> bool:
    """True if a text consists of the words before an author's name."""
    return len(text) <= _MAX_LABEL and _says_label(text)


@remembered
def _says_label(text: str) -> bool:
    return _LABEL.match(lowered(text)) is not None


def unglued(line: str) -> str:
    """A signed line with a space where elements touch in the text but not on the screen: "ByAnn LeePublished"."""
    label = _GLUED_LABEL.match(lowered(line)) if _TOUCHING.search(line, 0, _MAX_LABEL) else None
    if label is None or not (line[label.end()].isupper() and line[label.end() - 1].islower()):
        return line
    return f"{line[: label.end()]} {TOUCHING_END.sub(' ', line[label.end() :])}"
