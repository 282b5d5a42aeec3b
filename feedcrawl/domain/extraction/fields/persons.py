"""Names of persons in publishers' statements about authors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.text import fold, squeezed

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAME_LENGTH = 80
MAX_NAME_WORDS = 6
_BY = re.compile(
    r"^\W*(?:(?:written|reported|posted|published|story|words|text|article)\s+)?"
    r"(?:(?:by)?by|von|vom|por|par|di|door|av|af|autor(?:in|en|es|/in|:in|\*in)?|(?:artikel|beitrag) von|authors?"
    r"|auteurs?|text|autore)\b[:\s-]+",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\s*(?:(?:,\s|\s)(?:and|und|y|et|e|&|og|och|en|dan|with|mit)\s|[;|•·]|,\s|\s/\s)\s*",
    re.IGNORECASE,
)
_FOR_WHOM = re.compile(r"\s+[Ff]or\s+(?:[Tt]he\s+[A-Z].*|\S+\.[A-Za-z]{2,3})$")  # "Ann Lee for The Daily"
_TITLE_BEFORE = re.compile(
    r"^(?:rechtsanw(?:alt|ältin)|(?:gast)?autor(?:in)?|redakteur(?:in)?|guest (?:author|post)) ", re.IGNORECASE
)
_ASIDE = re.compile(
    r"\s*\([^)]*\)|\s*\[[^\]]*\]|\s+(?:(?:am|on|le|el|op|den)\s+)?\d{1,2}[./]\d{1,2}[./]\d\d.*|\s(?:기자|記者|记者)$"
    r"|\s(?i:envoyée?s? spécia|enviad[oa]s? especial|corresponsal|correspondant)\w*(?:\s.*)?$"
)
_MARKUP = re.compile(r"<[^<>]*>")
_MAIL = re.compile(r"(?<=\w)\s*[|,;(]\s*[\w.+-]+@[\w-]+\.[\w.-]+\)?$")
_ADDRESS = re.compile(r"://|www\.|@\w")
_LEGAL_FORM = re.compile(
    r"\b(?:gmbh(?: & co\.? kg)?|ltd|llc|inc|corp|pty|s\.?r\.?l|e\.\s?v|co\. kg)\.?$", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"[#%{}]|^\w+: "
    r"|^(?:licensed|certified|registered|(?:co-?)?founder|owner|chief|vice|m\.a\.|b\.a\.) "
    r"|^\d|\d{3}|\d[:.]\d|\s\d+$|^\W*$|^(?:foto|photo|bild|image|picture|credit|quelle|source)s?\b|^published\b"
    r"|^(?:full|read|view|see|short) (?:full )?(?:bio(?:graph(?:y|ie))?|profile?)$"
    r"|(?:^|\s)(?:by|von|por|par|di|door|av|af)$|^(?:more )?about\b"
    r"|\b(?:gmbh|ag|ltd|llc|inc|corp|pty|s\.?r\.?l|e\.\s?v|co\. kg)\.?$|^[a-z]+(?:\.[a-z]+){2,}$"
    r"|\b(?:paid|sponsored) (?:content|post)|^advert\w+|^anzeige\b|^werbung\b"
    r"|^more\b|^share\b"
    r"|^(?:jump|skip) to\b|^z(?:um|ur|u den) |\bnewsletter\b|^anonymous\b"
    r"|\b(?:posts|beiträge|folgen|senden)$|^agenc(?:y|ies)$|^agenturen$"
    r"|^(?:fact|medically|expert)[ -](?:checked|reviewed)"
    r"|^(?:(?:site|web|wp|super)[ -]?(?:admin(?:istrator)?|user|master|editor)|undefined"
    r"|(?:\w+[ -])?\w*admin|youtube|facebook|twitter|instagram|linkedin|tiktok|pinterest|whatsapp|telegram|reddit"
    r"|wordpress|anonym\w*|anónimo"
    r"|admin|administrator|editor|redaktion|staff|unknown|null|none|author|authors|contributor|guest|anonymous"
    r"|follow|share|edit|save|reply|login|profile|image|photo|about the author|view profile|see more|more|posted"
    r"|updated|published|am|um|comments?(?: now)?|(?:add|leave|post) a comment|follow us|log in|sign (?:in|up)"
    r"|subscribe(?: now)?|read more|e-?mail|print)$",
    re.IGNORECASE,
)
_ORGANIZATION = re.compile(
    r"\b(?:team|redaktion|redacción|rédaction|editorial|staff|official|association|university|universität|institute?"
    r"|(?:bundes)?verband|partei|sekretariat|pressestelle|agenc(?:y|ies)|agentur(?:en)?|presse|company|reports|newsroom"
    r"|department|foundation|society|dentistry|clinic|hospital|magazin(?:e)?|illustrierte|newspaper|media group"
    r"|(?:community|business) development|marketing|communications|news|times)\b"
    r"|\s(?:media|verlag|publishing|publishers|group|solutions|services|ministerium|ministry|stiftung|verein|council|committee"
    r"|corporation|bureau|consulting|partners|labs?|academy|insurance)$|\.(?:com|org|net|de|at|ch|it|fr)$",
    re.IGNORECASE,
)
_AGENCIES = (
    r"(?:the )?(?:associated press|press association|reuters|agence france[- ]presse|bloomberg|getty images)"
    r"|(?-i:AP|AFP|dpa|DPA|APA|EFE|ANSA|Ansa|PA|ATS|Keystone-SDA|SID|sid|epd|KNA|kna|AAP|ANP|NTB|TT|PAP|Belga)"
)
_AGENCY = re.compile(_AGENCIES, re.IGNORECASE)
_AGENCY_AFTER = re.compile(rf"(?<=\w\w)\s*[,/]\s*(?:{_AGENCIES})\W*$", re.IGNORECASE)
# What touches a name in the text but not on the screen: "AuthorAnn Lee", "Ann Lee5 minute read", "Ann LeeAnn Lee".
_LABEL_TOUCHES = re.compile(r"^(?:By|Authors?|Autor(?:in)?|Auteure?|Writer|Von|Par)(?=[A-ZÀ-ÞĀ-Ž][^\W\d_A-Z])")
_COUNT_TOUCHES = re.compile(r"(?<=[^\W\d_])\d+[-\s].*$")
_TWICE = re.compile(r"(.{5,})\s*\1")
_DEGREES = re.compile(
    r"^(?:ph\.?\s?d|m\.?d|d\.?v\.?m|r\.?n|r\.?d\.?n?|m\.?s\.?c?|b\.?s\.?c?|m\.?a|b\.?a|m\.?p\.?h|m\.?b\.?a|d\.?o|esq|jr|sr"
    r"|cfa|cpa)\.?$|^(?:licensed|certified|registered) |^(?:m|b)\.(?:a|sc)\. ",
    re.IGNORECASE,
)
_POST_NOMINAL = re.compile(r"[A-Z]{2,6}")  # "FAND" after a name: a degree or a membership, of which no list is complete
_ROLE = re.compile(
    r"(?:president|director|editor|reporter|correspondent|journalist|columnist|contributor|analyst|manager|founder|ceo"
    r"|redakteur(?:in)?|korrespondent(?:in)?|reporter(?:in)?|rédact(?:eur|rice)|journaliste|redactor[a]?|periodista)$",
    re.IGNORECASE,
)
_OFFICE = re.compile(
    r"^(?:co-?)?(?:founder|owner|head|chief|director|president|vice|senior|licensed|certified|professor|member) "
    r"|(?:expert|specialist|strategist|consultant|educator|writer|attorney|coach|scientist|grader|engineer"
    r"|stylist|photographer|blogger|nutritionist|dietiti?an|chef)s?$",
    re.IGNORECASE,
)
_USER = re.compile(r"[a-z][a-z0-9._-]*[a-z0-9]|\S+\.[a-z]{2,6}(?:/\S*)?|\S*\d{2,}\S*|\S+_\S+")
_PROPER = r"(?![\u4e00-\u9fff]{5})[^\W\d_a-z](?:[^\W\d_]|['\u2019.-])*"
_PERSON = re.compile(
    rf"(?!(?:The|Die|Das|Les|Los|Team)\s){_PROPER}(?:\s+(?:(?:de|del|da|di|do|dos|van|von|der|den|ter|la|le|el|al|bin|ibn)\s+)*{_PROPER}){{1,3}}"
    r"|[\u4e00-\u9fff\uac00-\ud7af]{2,4}"
)


def split_names(text: str) -> Iterator[str]:
    """The single names in a byline, without additions: "By Ann Lee, Editor, and Bo Ek, Reuters" has two names."""
    text = fold(_MARKUP.sub(" ", text)) if "<" in text else fold(text)
    text = _MAIL.sub("", text)
    if _ADDRESS.search(text):
        return
    after_person = after_company = False
    for place, part in enumerate(_SPLIT.split(_AGENCY_AFTER.sub("", _BY.sub("", text)))):
        name = _TITLE_BEFORE.sub("", _ASIDE.sub("", _BY.sub("", _without_paper(part))).strip(" ,.;:|-–—"))
        after_company = after_company or _LEGAL_FORM.search(name) is not None
        if after_company and not is_person(name):
            continue  # the company's address
        name = _apart(name)
        if after_person and _POST_NOMINAL.fullmatch(name):
            continue
        if _may_name(name) and not (place and is_role(name)):
            after_person = is_person(name)
            yield name


def _without_paper(part: str) -> str:
    """A person without the name of the paper ("Ann Lee For The Daily"); other names are unchanged."""
    person = _FOR_WHOM.sub("", part)
    return person if is_person(_BY.sub("", person)) else part


def _apart(name: str) -> str:
    """A name without the text of an element that touches it; unchanged if no person is left."""
    person = _COUNT_TOUCHES.sub("", _LABEL_TOUCHES.sub("", name))
    twice = _TWICE.fullmatch(person)
    person = twice[1].strip() if twice else person
    return person if is_person(person) else name


def is_person(name: str) -> bool:
    """True if a name has the form of a person's: two to four words with capitals, or syllables."""
    return _PERSON.fullmatch(name) is not None


def is_role(text: str) -> bool:
    """True if a text beside a name is a role or a degree: "Senior Reporter", "PhD"."""
    return any(pattern.search(text) for pattern in (_ROLE, _OFFICE, _DEGREES))


def is_organization(name: str) -> bool:
    """True if a name is that of a team, a company or an office: "Editorial Team", "example.org"."""
    return _ORGANIZATION.search(name) is not None


def is_agency(name: str) -> bool:
    """True if a name is that of a news agency."""
    return _AGENCY.fullmatch(name) is not None


def is_user_name(name: str) -> bool:
    """True if a name is that of an account or of a host: "mdelatorre", "brandon-peaktwo", "example.org"."""
    return _USER.fullmatch(name) is not None


def is_publisher(name: str, publisher: set[str]) -> bool:
    """True if a name is the site's name or its beginning: "LBCI" is "LBCI Lebanon"."""
    key = squeezed(name)
    return key in publisher or (len(key) > 3 and any(known.startswith(key) for known in publisher))


def _may_name(name: str) -> bool:
    return 1 < len(name) <= MAX_NAME_LENGTH and len(name.split()) <= MAX_NAME_WORDS and not _NO_NAME.search(name)
