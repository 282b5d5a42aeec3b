"""Lines of an article that speak to readers: calls to follow, to subscribe or to read on, and publishers' notices."""

from __future__ import annotations

import re

_CALLS = (
    r"\b(?:follow|join|like|add|find) (?:us|.{2,40}) (?:on|at|as) (?:our )?(?:a preferred|twitter|x\b|facebook|google)",
    r"\b(?:follow|join|like|find) (?:us|.{2,40}) (?:on|at) (?:our )?(?:instagram|whatsapp|telegram|linkedin|youtube)",
    r"\bsign up (?:here|now|below|today)\b",
    r"\b(?-i:S)ign up (?:for|to)\b|\b(?-i:S)ubscribe (?:to|now|here|for)\b|\bnewsletter\b|\bclick here\b",
    r"\b(?:sign up|subscribe) (?:for|to) (?:our|my)\b|\bplease subscribe\b",
    r"\bdownload (?:our|the) .{0,40}\bapps?\b",
    r"\bgot a (?:story|tip|news tip)\?|\bget in touch (?:with|by)\b",
    r"unterstützen sie uns|jetzt abonnieren|whatsapp-kanal|\bfolg(?:en sie|e|t) (?:uns|mir)\b|suivez[- ]nous",
    r"canal (?:de|do|no) (?:telegram|whatsapp)|síguenos en|seguici su|siga[- ]nos|volg ons op|följ oss|obserwuj nas",
    r"подпис\w+ на наш",
    r"\balready an? (?:subscriber|member)\b.{0,100}\b(?:log|sign) ?in\b",
)
_CALL = re.compile("|".join(_CALLS), re.IGNORECASE)
_CALL_HINTS = (
    "sign up", "subscribe", "newsletter", "click here", "download", "got a ", "get in touch", "unterstützen sie",
    "abonnieren", "preferred", "twitter", " x", "facebook", "google", "instagram", "whatsapp", "telegram", "linkedin",
    "youtube", "folg", "suivez", "síguenos", "seguici", "siga", "volg ons", "följ oss", "obserwuj", "подпис",
    "already a",
)  # fmt: skip
"""One of these stands where the expression matches: a text without them need not be searched."""
_READ_ON = (
    r"(?:read|see|watch|listen)(?: (?:more|also|next|now|on))?:|read (?:more|also|next)|also read",
    r"our standards:|for more (?:stories|news|articles)|for more on (?:this|the) (?:story|article)",
    r"lesen sie (?:auch|hier|mehr|dazu|weiter)|lies auch|mehr zum thema|mehr dazu|lesetipp",
    r"auch interessant(?! (?:ist|sind|war)\b)",
    r"das könnte (?:dich|sie) auch interessieren",
    r"(?:à )?lire (?:aussi|également)|à (?:lire|voir)|voir aussi|en savoir plus|sur le même sujet",
    r"lee (?:también|además|aquí)|lea (?:también|además|aquí|más)|(?:le|te) (?:puede|podría) interesar|seguir leyendo",
    r"ve[ar] también|leia (?:também|mais)|veja (?:também|mais)|saiba mais",
    r"leggi anche|guarda anche|potrebbe interessarti|cite[șş]te (?:[șş]i|mai)|citi[țţ]i [șş]i",
    r"lees (?:ook|meer|verder)|bekijk ook|läs (?:mer|också|även)|les (?:også|mer)|læs (?:også|mere)",
    r"lue (?:myös|lisää|seuraavaksi|aiheesta)|olvass[ao]n? (?:el|tovább)|olvasd el|kapcsolódó|preberite tudi",
    r"(?:prze)?czytaj (?:też|także|również|więcej)|zobacz (?:też|także|również)|dowiedz się więcej",
    r"čtěte (?:také|též|i)|přečtěte si|čítajte (?:aj|tiež)|prečítajte si|pro[čc]itaj(?:te)? (?:i|još|više)",
    r"читайте (?:также|тоже|ещё|еще|далее|також|ще)|смотрите также|дивіться також|(?:вижте|прочетете) (?:още|също)",
    r"διαβάστε (?:επίσης|ακόμη|περισσότερα)|ayr\u0131ca (?:oku|bak)\w*|haberin devam\u0131",
    r"baca (?:juga|selengkapnya)|xem thêm|đọc (?:thêm|tiếp)",
    r"اقرأ (?:أيض\w*|ايض\w*|المزيد)|شاهد أيض\w*|بیشتر بخوانید|קראו (?:עוד|גם)|ראו גם|(?:यह|ये) भी पढ़ें|और पढ़ें|আরও পড়ুন",
    r"関連記事|あわせて読みたい|(?:延伸|相关|相關|推荐|推薦)(?:阅读|閱讀)|相关(?:新闻|文章)|관련 ?기사",
)
"""How publishers lead to other articles, in some thirty languages, at the beginning of a line."""
_LEADS_ON = re.compile(rf"\W*(?:{'|'.join(_READ_ON)})(?!(?<=\w)\w)", re.IGNORECASE)
_RELATED = re.compile(r"\W*related(?!\w| to\b)", re.IGNORECASE)
# Publishers' notes within an article: placeholders of embedded media, commissions, rights, the part that is not shown.
_NOTICES = (
    r"(?=.*\bextern\w* (?:inhalt|content|inhoud|contenu|contenido))(?=.*(?:angezeigt|anzeigen|laden|redakt|cookie))",
    r"(?=.*\baffiliate.?links?\b)(?=.*(?:provision|commission|kommission|gekennzeichnet|marked|\bwe\b|\bour\b))",
    r"(?:letzte aktualisierung|last updated?) (?:am|on) .{1,80}\baffiliate.?links?\b",
    r"(?:warning|deprecated|notice|(?:fatal|parse) error): .{1,400} on line \d+",
    r"(?:please|you need to|you must) (?:enable|activate|turn on) javascript\b|javascript is (?:disabled|required)\b",
    r"(?:this|our) (?:site|page|website|shop|app) (?:requires|needs) javascript\b|bitte aktivieren sie javascript\b",
    r"(?:diese[r]?|unsere?) (?:seite|website|shop) .{0,40}\bjavascript\b|veuillez activer javascript\b",
    r"il vous reste [\d.,]+ ?% de cet article",
    r"© ?\S.{0,100}$|copyright (?:©|\(c\)|\d{4})",
    r"(?:additional )?reporting by .{3,200}\bediting by\b|with (?:additional )?report(?:s|ing) (?:from|by)\b",
    r"this (?:article|story|post) (?:was |has been )?(?:\w+ly |first )?(?:translated|appeared|published)\b",
    r"dieser (?:artikel|text|beitrag) (?:ist|wurde|erschien) (?:zuerst|zunächst|ursprünglich)\b",
    r"dies ist eine (?:\w+ )?übersetzung\b",
    r".{0,300}\S\s© ?\S.{1,60}[^.!?]$",
)
_NOTICE = re.compile("|".join(_NOTICES), re.IGNORECASE)  # matches at the beginning of a line
_NOTICE_HINTS = (
    "extern", "affiliate", " on line ", "javascript", "il vous reste", "\u00a9", "copyright", "report", "this ",
    "dieser ", "dies ist eine",
)  # fmt: skip
_LONGEST_LABEL, _AROUND = 50, " -–—*•·|:.…»>[]()↑↓→▲▼"
_NOTICES_WITHIN = (
    r"\bwe (?:may|might|could|can|will)? ?(?:earn|receive|get) (?:a |an )?(?:small |affiliate )?commissions?\b",
    r"\bwe (?:may|might|could) (?:be compensated|receive compensation)\b",
    r"\b(?:ohne|mit|nach) (?:dein|ihr|eur)e?[rm]? (?:einwilligung|zustimmung|einverständnis)\b.{0,80}\b(?:verb|lad)",
    r"\bum (?:deine|ihre) (?:persönlichen )?daten zu schützen\b",
    r"\bto (?:view|see|watch|display) this (?:content|video|embed|post)\b.{0,80}\b(?:cookies|consent|accept|allow)",
    r"\bpour (?:voir|afficher|lire) (?:ce contenu|cette vidéo)\b.{0,80}\bcookies\b",
    r"\bpara ver este (?:contenido|vídeo)\b.{0,80}\bcookies\b",
    r"\bthis (?:content|video|embed) (?:is|could) not (?:be )?(?:available|loaded|shown)\b",
)
_NOTICE_WITHIN = re.compile("|".join(_NOTICES_WITHIN), re.IGNORECASE)
_NOTICE_WITHIN_HINTS = (
    "commission", "compensat", "this content", "this video", "this embed", "this post", "einwilligung",
    "zustimmung", "einverständnis", "daten zu schützen", "ce contenu", "cette vidéo", "este contenido", "este vídeo",
)  # fmt: skip


_LABELS = frozenset({
    "advertisement", "advertisements", "skip advertisement", "story continues below advertisement",
    "article continues below advertisement", "anzeige", "anzeigen", "werbung", "publicité", "publicidad", "publicidade",
    "pubblicità", "advertentie", "annons", "annonse", "mainos", "reklama", "reklam", "реклама", "iklan", "quảng cáo",
    "広告", "广告", "廣告", "광고", "read more", "mehr lesen", "weiterlesen", "lire plus", "leer más", "back to top",
    "share this", "share this article",
})  # fmt: skip
"""Lines that say these words alone: places of advertisements, and controls without their icons."""


def is_notice(text: str, small: str) -> bool:
    """True for a publisher's note on a text: rights, commissions, a placeholder; `small` is the text in lower case."""
    if len(small) < _LONGEST_LABEL and small.strip(_AROUND) in _LABELS:
        return True
    if any(map(small.__contains__, _NOTICE_HINTS)) and _NOTICE.match(text):
        return True
    return any(map(small.__contains__, _NOTICE_WITHIN_HINTS)) and _NOTICE_WITHIN.search(text) is not None


def is_call(text: str, small: str) -> bool:
    """True for a line that asks readers to follow, to subscribe or to read on; `small` is the text in lower case."""
    if leads_on(text) or _RELATED.match(text):
        return True
    return any(map(small.__contains__, _CALL_HINTS)) and _CALL.search(text) is not None


def leads_on(text: str) -> bool:
    """True for a line that begins as publishers lead readers to other articles."""
    return _LEADS_ON.match(text) is not None
