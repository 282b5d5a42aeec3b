"""Phrases of walls, by kind and in many languages: phrases about the page, the site or the reader's browser.

A phrase that news may contain ("was not found") is listed only with the word for page or article beside it.
"""

# ruff: noqa: RUF001 -- letters of other alphabets

from __future__ import annotations

import re

_PAGE = r"(?:page|article|story|content|post|url|link|site)"
_SEITE = r"(?:seite|artikel|inhalt|beitrag|adresse)"
_PAGINA = r"(?:p[aá]gina|art[ií]cul?o|conte[nú]+[dt]?[oi]d?o?|noticia|notícia|nota|enlace)"
_ENCONTRADA = r"(?:encontrad[ao]|encuentra|trovat[ao]|existe|esiste|está disponible|è più disponibile|está disponível)"

_WALLS = {
    "challenge": (
        r"checking (?:if the site connection|your browser)|just a moment\b|attention required!",
        r"(?:verify|confirm|prove|know)(?:ing)? (?:that )?(?:you are|you're) (?:a |not a )?(?:human|robot|bot)",
        r"(?:are|you're) (?:you )?(?:not )?a (?:robot|human)\b|press (?:&|and) hold to",
        r"complete (?:the|this|a) (?:captcha|security check)|security check to access|human verification",
        r"unusual traffic from|ddos protection|too many requests\b|request unsuccessful|incident id\b",
        r"^\W*access (?:to this page |to this site )?(?:has been |is |was )?denied|don't have permission to access",
        r"(?:your )?request (?:was|has been) blocked|you have been blocked",
        r"enable javascript and cookies to continue|enable js and disable any ad ?blocker",
        r"kein roboter|sicherheitsprüfung|pas un robot|no eres un robot",
        r"no soy un robot|non sei un robot|não é um robô",
        r"geen robot|nie jesteś robotem|не робот|не бот\b|机器人|安全验证|ロボットではない|로봇이 아",
    ),
    "javascript": (
        r"^\W*(?:\w+\W+)?(?:loading|please wait|redirecting|wird geladen|chargement|cargando|загрузка)\W*$",
        r"(?:enable|activate|turn on|requires?|needs?|without) java ?script",
        r"java ?script (?:is|must be|seems to be|to be) (?:not )?(?:disabled|enabled|required|activated)",
        r"(?:activez|activer|activar|active|attiva(?:re)?|ativar?|habilit[ae]r?|aktivieren sie|włącz) java ?script",
        r"java ?script (?:aktivieren|activado|activé|inschakelen)|java ?scriptを有効",
        r"your browser (?:is|version is) (?:not supported|no longer supported|out of date|outdated)",
    ),
    "consent": (
        r"(?:value|care about|respect) your privacy|before you continue\b",
        r"\bwe and our (?:\d+ )?partners|\bour \d+ partners",
        r"wir und unsere (?:\d+ )?partner|nous et nos (?:\d+ )?partenaires",
        r"nosotros y nuestros (?:\d+ )?socios|noi e i nostri (?:\d+ )?partner|nós e os nossos (?:\d+ )?parceiros",
        r"wij en onze (?:\d+ )?partners|my i nasi (?:\d+ )?partnerzy",
        r"vi och våra (?:\d+ )?partner|ми та наші партнери",
        r"accept (?:all )?(?:the )?cookies|(?:this (?:web)?site|we) uses? cookies|reject all\b",
        r"manage (?:your )?(?:cookie|privacy|consent)|cookie (?:settings|preferences|consent)",
        r"wir (?:verwenden|nutzen|benutzen) cookies|alle (?:cookies )?akzeptieren|cookies zulassen|ihre zustimmung",
        r"weiter(?:lesen)? mit werbung|mit werbung (?:weiterlesen|und tracking)|pur-abo|werbefrei lesen",
        r"utilis(?:e|ons) des cookies|tout accepter|accepter et (?:fermer|continuer)|continuer sans accepter",
        r"(?:usamos|utilizamos) cookies",
        r"aceptar (?:y continuar|todas|todo|(?:todas )?(?:las )?cookies)|aceitar (?:todos|cookies)",
        r"utilizziamo (?:i )?cookie|accetta (?:e continua|tutt[oi]|(?:tutti )?i cookie)",
        r"accepteren\b.{0,30}instellingen",
        r"(?:wij|we) gebruiken cookies|cookies? accepteren|szanujemy twoją prywatność|pliki cookie",
        r"vi använder cookies|godkänn alla|vi bruger cookies|vi bruker (?:informasjonskapsler|cookies)|accepter alle",
        r"používáme cookies|sütiket használ|kullanıyoruz.{0,20}çerez",
        r"çerez(?:leri)? kabul|используем (?:файлы )?cookie",
        r"cookieを使用|すべて同意|接受所有 ?cookie|쿠키를 사용",
    ),
    "unavailable": (
        r"^\W*(?:50\d|451)\W*$|\berror 5\d\d\b|bad gateway",
        r"service (?:temporarily )?unavailable|internal server error",
        r"server is (?:temporarily |currently )?unable to|(?:scheduled|undergoing|for|under|down for) maintenance\b",
        r"we.ll be (?:right )?back (?:soon|shortly)",
        r"(?:something|sorry, something) went wrong|please try again later",
        r"(?:not|un)available in your (?:country|region|location)|not available .{0,20}(?:legal reasons|in the eu)",
        r"european economic area .{0,80}(?:cannot|unable|unavailable)|cannot grant you access",
        r"wartungsarbeiten|vorübergehend nicht (?:erreichbar|verfügbar)",
        r"en maintenance\b|en mantenimiento\b|in manutenzione\b",
        r"em manutenção|onderhoud\b.{0,40}(?:site|pagina)|технические работы|メンテナンス中|维护中|점검 중",
    ),
    "not_found": (
        r"^\W*404\W*$|\b(?:error|fehler|erreur|errore|erro|chyba|błąd|ошибка|hata)\W{1,3}404\b",
        r"\b404 (?:not found|error|page)",
        rf"\b{_PAGE}\b.{{0,60}}(?:\bnot|n.t|\bnever|no longer) (?:be )?(?:found|exists?|available|here)\b",
        rf"\b{_PAGE}\b.{{0,30}}(?:has|have) been (?:removed|deleted|moved|unpublished)\b|nothing (?:was )?found\b",
        rf"(?:could not|couldn.t|can.t|cannot) find (?:it|what you|(?:the|that|this|your) {_PAGE})",
        rf"\b{_SEITE}\b.{{0,60}}nicht (?:mehr )?(?:gefunden|verfügbar|vorhanden|existiert)",
        rf"{_SEITE}.{{0,40}}existiert .{{0,12}}nicht",
        r"page introuvable|(?:page|article|contenu)\b.{0,60}n.existe (?:plus|pas)",
        r"(?:page|article)\b.{0,40}n.est plus disponible",
        rf"\b{_PAGINA}\b.{{0,60}}\b(?:no|non|não) (?:se |ha |foi |fue |è )?(?:sid[ao] |stat[ao] )?{_ENCONTRADA}",
        r"\b(?:pagina|artikel)\b.{0,40}(?:niet gevonden|bestaat niet|niet (?:meer )?beschikbaar)",
        r"nie znaleziono (?:strony|artykułu)|\bstrona\b.{0,40}nie (?:istnieje|została znaleziona)",
        r"strán(?:ka|ku)\b.{0,40}(?:nenalezena|neexistuje|nenašla|neexistuj)",
        r"az oldal nem található|pagina nu (?:a fost|există)",
        r"\b(?:sidan|artikeln)\b.{0,40}(?:hittades inte|finns inte)",
        r"\b(?:siden|artiklen|artikkelen)\b.{0,40}(?:ikke (?:fundet|funnet)|findes ikke|finnes ikke)",
        r"sivua\b.{0,40}ei löy|sayfa(?:sı)? bulunamadı",
        r"страниц\w+ .{0,30}не (?:найден|существует)|сторінк\w+ .{0,30}не (?:знайден|існу)",
        r"η σελίδα .{0,30}δεν (?:βρέθηκε|υπάρχει)|الصفحة.{0,40}غير موجودة",
        r"(?:הדף|העמוד).{0,30}לא נמצא|(?:पृष्ठ|पेज).{0,40}नहीं मिल",
        r"(?:页面|頁面|文章|网页).{0,20}(?:不存在|未找到|已被?删除)",
        r"(?:ページ|記事).{0,20}(?:見つかりません|存在しません)",
        r"(?:페이지|기사).{0,20}(?:찾을 수 없|존재하지 않)",
        r"halaman .{0,30}tidak (?:ditemukan|ada)|không tìm thấy trang|ไม่พบหน้า",
    ),
    "parked": (
        r"domain (?:name )?(?:is|may be) for sale|buy this domain|domain (?:has )?expired|domain steht zum verkauf",
        r"welcome to nginx|apache2? .{0,20}default page|it works!$",
        r"account (?:has been )?suspended|site (?:is )?coming soon",
    ),
    "login": (
        r"forgot(?:ten)? (?:your )?password|passwort vergessen|mot de passe oublié",
        r"(?:olvidaste|olvidó|has olvidado) (?:tu|su) contraseña",
        r"password dimenticata|esqueceu (?:a|sua) senha",
        r"wachtwoord vergeten|glömt lösenord|забыли пароль|パスワードを忘れ",
    ),
    "paywall": (
        r"(?:subscribe|register|sign up|log ?in|sign in)(?: now)? to (?:continue|keep|read|unlock|access|view)",
        r"already a (?:subscriber|member)|subscribe(?:rs)? (?:now )?for full access",
        r"(?:for|to) (?:our )?(?:premium |paying )?(?:subscribers|members) only|(?:subscribers?|members?)[- ]only\b",
        r"(?:nur|exklusiv) für (?:abonnenten|mitglieder)|jetzt (?:weiterlesen|abonnieren)|bereits abonnent",
        r"réservé (?:à nos|aux) abonnés|déjà abonné|abonnez-vous pour|il vous reste .{0,12}% de cet article",
        r"(?:exclusivo|solo|sólo) para (?:suscriptores|abonados|socios)|suscríbe(?:te|ase) para",
        r"riservat[oi] agli abbonati|abbonati per (?:continuare|leggere)",
        r"(?:exclusivo|só) para assinantes|assine para",
        r"(?:alleen|exclusief) voor (?:abonnees|leden)|al abonnee",
        r"för prenumeranter|redan prenumerant|logga in för att läsa",
        r"(?:for|kun for|forbeholdt) abonnent|allerede abonnement|vain tilaajille|tilaajille",
        r"dla (?:prenumeratorów|subskrybentów)|kup dostęp|pouze pro předplatitele|csak előfizetőknek|abonelere özel",
        r"(?:доступ\w*|только) (?:для )?(?:подписчик\w+|по подписке)|оформите подписку|тільки для передплатників",
        r"会員限定|有料会員|ログインして続き|订阅后阅读|付费阅读|구독자 전용",
    ),
}  # fmt: skip

LOGIN_TITLE = re.compile(
    r"(?:(?:customer|member|user|subscriber)s? )?(?:log[ -]?in|sign[ -]?in)(?: to (?:your account|continue))?"
    r"|anmelden|anmeldung|einloggen|(?:se )?connexion|se connecter|iniciar sesi[oó]n|inicio de sesi[oó]n|accedi|accesso"
    r"|entrar|iniciar sessão|inloggen|aanmelden|logga in|logg inn|log ind|kirjaudu(?: sisään)?|zaloguj(?: się)?"
    r"|logowanie|přihlášení|bejelentkezés|autentificare|giriş(?: yap)?|вход|войти|вхід|увійти"
    r"|登录|登錄|ログイン|로그인",
    re.IGNORECASE,
)
"""The whole title of a login page, without the name of its site."""
DIRECTORY_TITLE = re.compile(r"(?:index of|directory:|directory listing for|[\w.:-]+ -) \[?/.*", re.IGNORECASE)
"""The title that a server gives to the listing of a directory: Apache, nginx, lighttpd; Jetty; Tomcat, Python; IIS."""

WALL_WORDS = {kind: re.compile("|".join(phrases), re.IGNORECASE | re.MULTILINE) for kind, phrases in _WALLS.items()}
