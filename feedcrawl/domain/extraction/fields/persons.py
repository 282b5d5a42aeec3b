"""Names of persons in what publishers write of their authors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from feedcrawl.domain.extraction.bodies.leads import squeezed
from feedcrawl.domain.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAME_LENGTH = 80
MAX_NAME_WORDS = 6
_BY = re.compile(
    r"^\W*(?:(?:written|reported|posted|published|story|words|text|article)\s+)?"
    r"(?:by|von|por|par|di|door|av|af|autor(?:in|en|es)?|authors?|auteurs?|text|autore)\b[:\s]+",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\s*(?:(?:,\s|\s)(?:and|und|y|et|e|&|og|och|en|dan|with|mit)\s|[;|•·]|,\s|\s/\s)\s*",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^)]*\)|\s*\[[^\]]*\]|\s(?:기자|記者|记者)$")
_ADDRESS = re.compile(r"://|www\.|@\w")
_NO_NAME = re.compile(
    r"[#%]|^\d|\d{3}|\d[:.]\d|\s\d+$|^\W*$|^(?:foto|photo|bild|image|picture|credit|quelle|source)s?\b|^published\b"
    r"|(?:^|\s)(?:by|von|por|par|di|door|av|af)$|^(?:more )?about\b"
    r"|\b(?:gmbh|ag|ltd|llc|inc|corp|pty|s\.?r\.?l|e\.\s?v|co\. kg)\.?$|^[a-z]+(?:\.[a-z]+){2,}$"
    r"|^more\b|\bposts$|^(?:fact|medically|expert)[ -](?:checked|reviewed)"
    r"|^(?:(?:site|web|wp|super)[ -]?(?:admin(?:istrator)?|user|master|editor)|undefined|wordpress|anonym\w*|anónimo"
    r"|admin|administrator|editor|redaktion|staff|unknown|null|none|author|authors|contributor|guest|anonymous"
    r"|follow|share|edit|save|reply|login|profile|image|photo|about the author|view profile|see more|more|posted"
    r"|updated|published|comments?(?: now)?|(?:add|leave|post) a comment|follow us|log in|sign (?:in|up)"
    r"|subscribe(?: now)?|read more|e-?mail|print)$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?:president|director|editor|reporter|correspondent|journalist|columnist|contributor|analyst|manager|founder|ceo"
    r"|redakteur(?:in)?|korrespondent(?:in)?|reporter(?:in)?|rédact(?:eur|rice)|journaliste|redactor[a]?|periodista)$",
    re.IGNORECASE,
)
_OFFICE = re.compile(
    r"^(?:co-?)?(?:founder|owner|head|chief|director|president|vice|senior|licensed|certified|professor|member) "
    r"|(?:expert|specialist|strategist|consultant|educator|writer|attorney|coach|scientist|grader|engineer)s?$",
    re.IGNORECASE,
)
_USER = re.compile(r"[a-z][a-z0-9._-]*[a-z0-9]|\S+\.[a-z]{2,6}(?:/\S*)?|\S*\d{2,}\S*|\S+_\S+")
_PROPER = r"[^\W\d_a-z](?:[^\W\d_]|['\u2019.-])*"
_PERSON = re.compile(
    rf"(?!(?:The|Die|Das|Les|Los|Team)\s){_PROPER}(?:\s+(?:(?:de|del|da|di|do|dos|van|von|der|den|ter|la|le|el|al|bin|ibn)\s+)*{_PROPER}){{1,3}}"
    r"|[\u4e00-\u9fff\uac00-\ud7af]{2,4}"
)


def split_names(text: str) -> Iterator[str]:
    """The single names in a byline, without what follows them: "By Ann Lee, Editor, and Bo Ek" has two."""
    if _ADDRESS.search(text):
        return
    for place, part in enumerate(_SPLIT.split(_BY.sub("", fold(text)))):
        name = _ASIDE.sub("", _BY.sub("", part)).strip(" ,.;:|-–—")
        if _may_name(name) and not (place and (_ROLE.search(name) or _OFFICE.search(name))):
            yield name


def is_person(name: str) -> bool:
    """Whether a name is spelt as those of persons are: two to four words with capitals, or syllables."""
    return _PERSON.fullmatch(name) is not None


def is_user_name(name: str) -> bool:
    """Whether a name is an account's, or a host's: "mdelatorre", "brandon-peaktwo", "example.org"."""
    return _USER.fullmatch(name) is not None


def is_publisher(name: str, publisher: set[str]) -> bool:
    """Whether a name is the site's, or the beginning of it: "LBCI" is "LBCI Lebanon"."""
    key = squeezed(name)
    return key in publisher or (len(key) > 3 and any(known.startswith(key) for known in publisher))


def _may_name(name: str) -> bool:
    return 1 < len(name) <= MAX_NAME_LENGTH and len(name.split()) <= MAX_NAME_WORDS and not _NO_NAME.search(name)
