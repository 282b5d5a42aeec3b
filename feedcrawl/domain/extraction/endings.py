"""The end of an article: other articles, notes on authors, dates of the last change and controls behind its text."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from feedcrawl.domain.extraction.bodies.furniture import note
from feedcrawl.domain.extraction.bodies.polish import frame_runs, lines
from feedcrawl.domain.extraction.bodies.weights import HEADINGS
from feedcrawl.domain.extraction.calls import is_call, is_notice, leads_on
from feedcrawl.domain.markup import drop
from feedcrawl.domain.text import fold, raw_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.bodies.furniture import Dropped

_OTHERS = (
    r"(?:related|recommended|similar|suggested|popular|trending|latest|recent|featured) (?:articles?|posts?|stories)",
    r"(?:related|recommended|similar|suggested|popular|trending|latest|recent|featured) (?:reading|reads|content|news)",
    r"(?:related|recommended|popular|latest|recent|featured) (?:topics|links|blogs?|guides|publications|videos)",
    r"(?:related|recommended|popular|latest|recent|featured) (?:coverage|pages|resources|products)",
    r"(?:more|other|recent|latest|popular) (?:from|by|posts|articles|stories|news|reading|like this)",
    r"(?:you|people|readers) (?:(?:may|might|could|will) )?(?:also )?(?:be interested|enjoy|like|love|want|consider)d?",
    r"this (?:might|may) (?:also )?(?:be interesting|interest)",
    r"what to read next|keep reading|up next|don['\u2019]t miss|explore more|what others are reading",
    r"editor['\u2019]?s['\u2019]? picks?|most (?:read|popular|viewed|shared)|in case you missed it",
    r"(?:das )?könnte (?:dich|sie|euch) auch|schon gelesen|auch interessant",
    r"(?:ähnliche|weitere|verwandte|neueste|aktuelle|beliebte|passende) (?:artikel|beiträge|themen|meldungen|posts)",
    r"articles? (?:liés|similaires|connexes|recommandés)|vous aimerez aussi|à découvrir aussi",
    r"(?:artículos|noticias|notas|entradas|temas) relacionad[oa]s|más noticias|también te puede interesar",
    r"(?:artigos|notícias|posts|matérias) relacionad[oa]s|(?:você )?pode(?:rá)? (?:também )?(?:gostar|interessar)",
    r"articoli (?:correlati|simili)|ti potrebbe(?:ro)? (?:anche )?interessare|gerelateerde artikelen",
    r"relaterade artiklar|relaterte (?:artikler|saker)|relaterede artikler|powiązane (?:artykuły|wpisy)",
    r"související články|похожие (?:статьи|записи|новости)|другие новости|ilgili (?:haberler|yaz\u0131lar|içerikler)",
)
"""Headings of lists of other articles, beside those that lead readers on (`calls`)."""
_PERSONS = (
    r"(?:about|meet) (?:the|your|our) (?:authors?|writers?|reviewers?|contributors?|guide|editors?)|author bio\w*",
    r"(?:written|reviewed|edited|fact[- ]checked) by",
    r"über (?:den|die) autor\w*|zur person|à propos de l['\u2019]aut\w+|(?:sobre|acerca de) (?:el|la|o|a|los) aut\w+",
    r"l['\u2019]autore|over de auteurs?|om (?:författaren|forfatteren)",
    r"o autorze|o autorovi|\u043e\u0431 авторе|yazar hakk\u0131nda",
)
"""Headings of notes on authors, whose names may follow."""
_PLACES = (
    r"(?:subscribe|sign up|join|get) .{0,30}\b(?:newsletter|mailing list|inbox)(?: .{1,30})?",
    r"(?:our |weekly )?newsletter",
    r"(?:become a|unlock|subscribe to (?:read|continue)) .{0,40}\b(?:subscriber|member|article|story|post)\b.{0,60}",
    r"this (?:article|story|post) is (?:exclusive|available|reserved|for) .{0,40}\b(?:subscribers|members)\b.{0,40}",
    r"leave a (?:comment|reply)|comments?(?: \(\d+\))?|\d+ comments?|join the (?:conversation|discussion)",
    r"(?:filed under|posted (?:in|under)|tags?:) ?:? ?.{1,150}",
    r"(?:(?:press|media) )?contact(?: us| information)?|contacts?|(?:presse)?kontakt|ansprechpartner(?:in)?|contacto",
    r"disclaimer|disclosure|share(?: (?:this|it|on|via)\b.{0,30})?|follow us|teilen|partager|compartir|condividi",
)
"""Headings of places to subscribe, to comment and to share."""
_MOMENTS = (
    r"(?:this (?:page|article|post|document) )?(?:was |is )?(?:page |date )?(?:last )?(?:updated|modified|reviewed)",
    r"(?:this (?:page|article|post|document) )?(?:was |is )?(?:last )?(?:edited|changed|published|posted|revised)",
    r"post time|publication date|publi(?:ziert|shed|é|cado|cato|cerad|sert)|veröffentlicht|(?:zuletzt )?aktualisiert",
    r"stand|letzte (?:aktualisierung|änderung)|erstellt|mis à jour|dernière (?:modification|mise à jour)",
    r"(?:última )?actualiza(?:ción|do)|(?:última )?atualiza(?:ção|do)|ultimo aggiornamento|pubblicato|aggiornato",
    r"laatst (?:bijgewerkt|gewijzigd)|gepubliceerd|(?:senast|sist|sidst) (?:uppdaterad|oppdatert|opdateret)",
    r"ostatnia (?:aktualizacja|modyfikacja)|opublikowano|data publikacji|обновлено|опубликовано|son güncelleme",
)
_CONTROLS = (
    r"(?:back to|to|go to) (?:the )?top|top of page|nach oben|(?:zum )?seitenanfang|haut de (?:la )?page",
    r"(?:was|is|did) this (?:page|article|content|post|answer|information)? ?(?:help|use)\w*(?: you)?\?.{0,60}",
    r"war (?:der|dieser) (?:artikel|beitrag) .{0,20}\?.{0,60}|how was this .{0,20}\?|submit (?:a )?correction",
    r"(?:previous|next|prev|up|home)(?: (?:article|post|page|story))?(?: \| (?:up|next|home).{0,30})?",
    r"(?:learn|read|see|view|show|load) (?:more|less|all)(?: (?:articles|posts|stories|news))?",
    r"more (?:articles|posts|stories|news)",
    r"view all posts.{0,40}|retrieved from.{0,200}|\(visited [\d,]+ times.*|permalink\b.{0,120}|loading",
    r"the post .{1,200} (?:first appeared|appeared first) on .{1,80}",
    r"print(?: this page| this article)?|e-?mail this.{0,40}|share(?: it| this.{0,20})?|pin (?:it|this) for later",
    r"drucken|merken|teilen|imprimer|imprimir|stampa|skriv ut|drukuj|распечатать|yazd\u0131r",
    r"no comments(?: yet.{0,60})?|(?:keine|\d+) (?:kommentare?|comments?).{0,60}|comments? off.{0,60}",
    r"\(?noch keine bewertungen\)?(?: loading)?|um einen kommentar .{1,80}",
    r"(?:please )?(?:log|sign) in to (?:leave|post|write) .{1,40}",
    r"quellen (?:aus|ein)blenden|sie sind (?:aktuell )?nicht eingeloggt.{0,100}|categor(?:y|ies) ?: .{1,150}",
    r"(?:quellen?|source|fuente|fonte|bron|källa|kilde|źródło|zdroj|источник|kaynak) ?: .{1,100}",
    r"cr[ée]dits? photos?\s*: .{1,80}|(?:beitrags|titel)bild(?:er)?\s*: .{1,100}|(?:photo|image) credits?\s*: .{1,100}",
)
_RIGHTS = (
    r"\bre(?:print|produc|publish|distribut|broadcast)\w* .{0,60}\b(?:prohibit|(?:without|written|prior) permission)",
    r"\bpermission must be obtained\b|\ball rights reserved\b|\bcopyrighted property\b|\balle rechte vorbehalten\b",
    r"\b(?:views|opinions) expressed\b.{0,100}\b(?:authors?|own|necessarily)\b|\binformational purposes only\b",
    r"\bdo(?:es)? not constitute .{0,60}\b(?:advice|offer|solicitation|recommendation|endorsement)\b",
    r"\bregistered trademarks?\b|\b(?:is|are) licensed under (?:an? |the )?(?:cc\b|.{0,40}\blicen[cs]e\b)",
)
_LABELS = (
    r"(?:hidden )?categor(?:y|ies)|tags?|topics?|kategorien?|schlagw[oö]rte?r?|themen|catégories?|mots[- ]clés",
    r"etiquetas|categorías?|temas|tópicos|categorie|argomenti|tagi|kategorie|рубрики|метки|теги|etiketler",
)
"""Headings of lists of links to sections and tags."""
_AROUND = r"[\W_]*"
_LISTS = re.compile(rf"{_AROUND}(?:{'|'.join(_OTHERS)})(?!\w).{{0,60}}", re.IGNORECASE)
_NOTED = re.compile(
    rf"{_AROUND}(?:(?:{'|'.join(_PERSONS)})(?!\w).{{0,40}}|(?:{'|'.join(_PLACES)}){_AROUND})", re.IGNORECASE
)
_LABELLED = re.compile(rf"{_AROUND}(?:{'|'.join(_LABELS)}){_AROUND}", re.IGNORECASE)
_DATED = re.compile(
    rf"{_AROUND}(?:{'|'.join(_MOMENTS)})(?!\w).{{0,25}}?"
    rf"(?:(?<!\d)\d{{1,2}}\D{{1,20}}\d.{{0,100}}|\d+(?: \w+ ago)?{_AROUND})",
    re.IGNORECASE,
)
_CONTROL = re.compile(rf"{_AROUND}(?:{'|'.join(_CONTROLS)}){_AROUND}", re.IGNORECASE)
_RIGHT = re.compile("|".join(_RIGHTS), re.IGNORECASE)
_TO_READERS = re.compile(
    r"\b(?:you|your|(?-i:us)|our|me|my|please|here|uns|unser\w*|sie|nous|nos|notre|votre|nuestr\w+|noss[ao]s?|nostr\w)\b"
    r"|(?:^|[.!?:–—|]\s)\W*(?:sign|subscribe|get|follow|join|like|find|add|download|already|jetzt|related)\b"
    r"|^for the latest\b",
    re.IGNORECASE,
)
"""Calls within texts speak to readers; a text that speaks of joining a firm or of a newsletter does not."""
_LONGEST_HEADING, _LONGEST_CONTROL, _LONGEST_CALL = 90, 160, 350
_ENDS = (".", ",", ";", "!", "…")
_LOWEST = 7
_MOST_DROPPED, _LEAST_LEADING = 0.45, 0.3


class _Line(NamedTuple):
    element: HtmlElement
    text: str
    is_linked: bool


def drop_endings(root: HtmlElement, *, lists: bool = True, dropped: Dropped | None = None) -> bool:
    """Remove what sites set behind the text of an article; True if anything was removed.

    From the last line on: dates of the last change, controls, calls and notices of rights; and sections, by their
    headings: notes on authors, places to subscribe, to share and to comment, links to sections and tags, and unless
    `lists` is off, lists of other articles. More than half of the text stays. What is removed is appended to `dropped`
    with its rule.
    """
    frame_runs(root)
    found = _second_half(root)
    before = len(found)
    while found:
        if is_last_line(found[-1].text):
            last = found.pop()
            note(dropped, "end of the text: line", last.element)
            drop(last.element)
        elif (at := _last_section(found, lists=lists)) is not None:
            for line in found[at:]:
                note(dropped, f"end of the text: {found[at].text}", line.element)
            _cut(root, found[at].element)
            del found[at:]
        else:
            break
    return len(found) < before


def _second_half(root: HtmlElement) -> list[_Line]:
    """The last lines with text, as many as may be removed."""
    most = _MOST_DROPPED * len(fold(raw_text(root)))
    found: list[_Line] = []
    for line in reversed(lines(root)):
        text = fold(raw_text(line))
        most -= len(text)
        if most < 0:
            break
        if text:
            found.append(_Line(line, text, _is_linked(line)))
    return found[::-1]


def is_last_line(text: str) -> bool:
    """True for a line that is no part of a text it ends: a date of the last change, a control, a call, a notice."""
    if len(text) <= _LONGEST_CONTROL and (_CONTROL.fullmatch(text) or _DATED.fullmatch(text)):
        return True
    small = text.lower()
    if len(text) > _LONGEST_CALL:
        return False
    return _calls(text, small) or is_notice(text, small) or _RIGHT.search(text) is not None


def _calls(text: str, small: str) -> bool:
    return leads_on(text) or (is_call(text, small) and _TO_READERS.search(text) is not None)


def heads_notes(text: str) -> bool:
    """True for a heading of notes on authors, or of a place to subscribe, to share or to comment."""
    return _NOTED.fullmatch(text) is not None


def heads_articles(text: str, share: float) -> bool:
    """True for a heading that announces other articles; `share`: of the lines under it, those that may lead there."""
    return (share == 1 and leads_on(text)) or (share >= _LEAST_LEADING and _LISTS.fullmatch(text) is not None)


def heads_labels(text: str, share: float) -> bool:
    """True for a heading of sections and tags, if all lines under it (`share` is 1) may lead there."""
    return share == 1 and _LABELLED.fullmatch(text) is not None


def _last_section(found: Sequence[_Line], *, lists: bool) -> int | None:
    """The place of the last heading that heads no part of the article."""
    inner, leading = _LOWEST, 0
    for at in range(len(found) - 1, -1, -1):
        line = found[at]
        level = _level(line)
        if level is not None and level <= inner:
            under = len(found) - at - 1
            share = leading / under if under else 1.0
            # Of a listing a line like "16 comments" belongs to an entry.
            is_note = (lists or line.element.tag in HEADINGS) and heads_notes(line.text)
            if is_note or heads_labels(line.text, share) or (lists and heads_articles(line.text, share)):
                return at
            if not line.is_linked:
                inner = level - 1 if line.element.tag in HEADINGS else inner
        leading += line.is_linked or line.element.tag in HEADINGS
    return None


def _level(line: _Line) -> int | None:
    """The level of a heading; a short line outside of lists and rows that does not end like a sentence heads what has
    none.
    """
    if line.element.tag in HEADINGS:
        return int(line.element.tag[1])
    if line.element.tag in {"li", "th"} or _has_cells_beside(line.element):
        return None
    return _LOWEST if len(line.text) <= _LONGEST_HEADING and not line.text.endswith(_ENDS) else None


def _has_cells_beside(line: HtmlElement) -> bool:
    return line.tag == "td" and next(chain(line.itersiblings(), line.itersiblings(preceding=True)), None) is not None


def _is_linked(line: HtmlElement) -> bool:
    """True for a line that links to another page; headings of manuals link to themselves."""
    links = chain(line.iter("a"), line.iterancestors("a"))
    return any(not (link.get("href") or "#").startswith("#") for link in links)


def _cut(root: HtmlElement, line: HtmlElement) -> None:
    """Remove a line and all that comes after it."""
    kin = [line, *(above for above in line.iterancestors() if root in above.iterancestors())]
    for element in list(chain.from_iterable(above.itersiblings() for above in kin)):
        element.getparent().remove(element)
    line.tail = None
    drop(line)
