"""Pages that answer 200 and are no articles, in many languages, and articles that sound like them."""

import pytest

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction import extract
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.extraction.walls.recognition import wall_kind

URL = "https://news.example/2026/11/27/harbour"
MENU = "".join(f'<li><a href="/section-{n}">Section {n}</a></li>' for n in range(12))


def page(title, text, *, head="", around=True):
    paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    menu = f"<nav><ul>{MENU}</ul></nav>" if around else ""
    return (
        f"<html><head><title>{title}</title>{head}"
        f"<style>body {{ margin: 0; padding: 0; font: 1em serif; color: black }}</style></head><body>{menu}"
        f"<main><h1>{title}</h1>{paragraphs}</main><footer><p>© The Example. Imprint. Terms.</p></footer>"
        f"</body></html>"
    )


PUR = (
    "Weiterlesen mit Werbung oder mit dem PUR-Abo.\nBesuchen Sie uns wie gewohnt mit Werbung und Tracking."
    + "\nWir und unsere 214 Partner verarbeiten Ihre Daten, etwa Kennungen des Geräts, um Inhalte zu messen." * 7
)
WALLS = [
    ("challenge", "Just a moment...", "Verifying you are human.\nWe review your connection."),
    ("challenge", "Access to this page has been denied", "Press & Hold to confirm you are a human (and not a bot)."),
    ("challenge", "news.example", "Please enable JS and disable any ad blocker"),
    (
        "challenge",
        "Access Denied",
        "You don't have permission to access this server.\nReference #18.2d351ab8.1557333295.a4e16ab",
    ),
    ("challenge", "Request unsuccessful", "Request unsuccessful. Incident ID: 443000270064181553-94734"),
    ("challenge", "Human Verification", "Let's confirm you are human. Complete the security check before continuing."),
    ("challenge", "Are you a robot?", "To continue, please click the box below to let us know you're not a robot."),
    ("challenge", "Sicherheitsprüfung", "Bitte bestätigen Sie, dass Sie kein Roboter sind, um fortzufahren."),
    ("challenge", "Vérification", "Veuillez confirmer que vous n'êtes pas un robot pour continuer."),
    ("challenge", "Comprobación", "Comprobando que no eres un robot. Espera unos segundos."),
    ("challenge", "Проверка", "Подтвердите, что вы не робот. Доступ ограничен."),
    ("challenge", "安全验证", "请完成安全验证以继续访问。请证明您不是机器人。"),
    ("challenge", "アクセス確認", "ロボットではないことを確認してください。"),
    ("challenge", "429 Too Many Requests", "You have sent too many requests. Please try again later."),
    ("javascript", "The Example", "You need to enable JavaScript to run this app."),
    ("javascript", "The Example", "Loading..."),
    ("javascript", "The Example", "Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen."),
    ("javascript", "The Example", "Veuillez activer JavaScript pour lire cet article."),
    ("javascript", "The Example", "Per favore, attiva JavaScript nel tuo browser."),
    ("javascript", "The Example", "Your browser is not supported. Please update to a modern browser."),
    ("consent", "Your privacy", "We value your privacy. We and our 842 partners store data."),
    (
        "consent",
        "Before you continue",
        "We use cookies and data to deliver and maintain our services. Accept all. Reject all.",
    ),
    ("consent", "Privatsphäre", "Wir verwenden Cookies. Alle akzeptieren."),
    ("consent", "Weiter mit Werbung", PUR),
    (
        "consent",
        "Votre vie privée",
        "Nous et nos 412 partenaires utilisons des cookies. Accepter et fermer. Continuer sans accepter.",
    ),
    ("consent", "Privacidad", "Nosotros y nuestros socios usamos cookies. Aceptar y continuar. Configurar."),
    ("consent", "Privacy", "Noi e i nostri partner utilizziamo i cookie. Accetta e continua. Rifiuta."),
    ("consent", "Cookies", "Wij gebruiken cookies. Alles accepteren. Instellingen wijzigen."),
    ("consent", "Prywatność", "Szanujemy Twoją prywatność. My i nasi partnerzy przechowujemy pliki cookie. Akceptuję."),
    ("consent", "Cookies", "Vi använder cookies. Godkänn alla. Inställningar."),
    ("not_found", "Page not found", "Sorry, the page you are looking for does not exist. Try the search."),
    ("not_found", "404", "Oops! That page can't be found."),
    ("not_found", "Article removed", "This article is no longer available."),
    ("not_found", "Nothing found", "It looks like nothing was found at this location. Maybe try a search?"),
    ("not_found", "Seite nicht gefunden", "Die von Ihnen gesuchte Seite existiert leider nicht."),
    ("not_found", "Fehler", "Der Artikel ist nicht mehr verfügbar."),
    ("not_found", "Page introuvable", "La page que vous recherchez n'existe plus ou a été déplacée."),
    ("not_found", "Error", "La página que busca no existe o ha sido eliminada."),
    ("not_found", "Errore 404", "La pagina che stai cercando non esiste."),
    ("not_found", "Página não encontrada", "O conteúdo que você procura não foi encontrado."),
    ("not_found", "Pagina niet gevonden", "Deze pagina bestaat niet of is verplaatst."),
    ("not_found", "Nie znaleziono strony", "Strona, której szukasz, nie istnieje."),
    ("not_found", "Stránka nenalezena", "Požadovaná stránka nebyla nalezena."),
    ("not_found", "Sidan hittades inte", "Sidan du söker finns inte längre."),
    ("not_found", "Siden blev ikke fundet", "Siden findes ikke."),
    ("not_found", "Sivua ei löytynyt", "Hakemaasi sivua ei löydy."),
    ("not_found", "Sayfa bulunamadı", "Aradığınız sayfa bulunamadı veya kaldırıldı."),  # noqa: RUF001
    ("not_found", "Страница не найдена", "Запрашиваемая страница не существует."),
    ("not_found", "Сторінку не знайдено", "Такої сторінки не існує."),
    ("not_found", "الصفحة غير موجودة", "عذرا، الصفحة التي تبحث عنها غير موجودة."),
    ("not_found", "הדף לא נמצא", "העמוד שחיפשת לא נמצא."),
    ("not_found", "पृष्ठ नहीं मिला", "आप जिस पेज को खोज रहे हैं वह नहीं मिला।"),
    ("not_found", "页面不存在", "您访问的页面不存在或已被删除。"),
    ("not_found", "ページが見つかりません", "お探しのページは存在しません。"),
    ("not_found", "오류", "페이지를 찾을 수 없습니다. 주소를 확인해 주세요."),
    ("not_found", "Halaman tidak ditemukan", "Halaman yang Anda cari tidak ada."),
    ("not_found", "Không tìm thấy trang", "Trang bạn tìm không tồn tại."),
    ("unavailable", "Maintenance", "We are currently performing scheduled maintenance. We'll be back soon."),
    ("unavailable", "503 Service Unavailable", "The server is temporarily unable to service your request."),
    ("unavailable", "502 Bad Gateway", "nginx"),
    ("unavailable", "Error", "Something went wrong. Please try again later."),
    ("unavailable", "Wartung", "Wegen Wartungsarbeiten ist unsere Seite vorübergehend nicht erreichbar."),
    ("unavailable", "Maintenance", "Le site est actuellement en maintenance. Revenez bientôt."),
    ("unavailable", "Mantenimiento", "Sitio en mantenimiento. Volvemos pronto."),
    ("unavailable", "Unavailable", "This content is not available in your region for legal reasons."),
    ("unavailable", "451", "You are in a country of the European Economic Area and we cannot grant you access."),
    ("parked", "news.example", "This domain is for sale. Buy this domain now or make an offer."),
    ("parked", "news.example", "Diese Domain steht zum Verkauf."),
    (
        "parked",
        "Welcome to nginx!",
        "If you see this page, the nginx web server is successfully installed and working.",
    ),
    (
        "parked",
        "Account Suspended",
        "This account has been suspended. Contact your hosting provider for more information.",
    ),
    ("paywall", "Harbour closed", "Subscribe to continue reading. Already a subscriber? Log in."),
    ("paywall", "Harbour closed", "This article is for subscribers only."),
    ("paywall", "Hafen geschlossen", "Jetzt weiterlesen mit dem Digitalabo. Sie sind bereits Abonnent? Hier anmelden."),
    ("paywall", "Port fermé", "Cet article est réservé aux abonnés. Déjà abonné ? Connectez-vous."),
    ("paywall", "Puerto cerrado", "Contenido exclusivo para suscriptores. Suscríbete para seguir leyendo."),
    ("paywall", "Porto chiuso", "Contenuto riservato agli abbonati. Abbonati per continuare a leggere."),
    ("paywall", "Porto fechado", "Conteúdo exclusivo para assinantes. Assine para continuar lendo."),
    ("paywall", "Haven dicht", "Dit artikel is alleen voor abonnees. Al abonnee? Log in."),
    ("paywall", "Hamnen stängd", "Det här är en artikel för prenumeranter. Redan prenumerant? Logga in."),
    ("paywall", "Havnen lukket", "Denne saken er for abonnenter. Har du allerede abonnement? Logg inn."),
    ("paywall", "Port zamknięty", "Artykuł dostępny tylko dla prenumeratorów. Kup dostęp, aby czytać dalej."),
    ("paywall", "Порт закрыт", "Материал доступен только подписчикам. Оформите подписку, чтобы читать дальше."),
    ("paywall", "港が閉鎖", "この記事は会員限定です。ログインして続きを読む。"),
    ("login", "Sign in", "Sign in to your account. Email address. Password. Forgot your password?"),
]


@pytest.mark.parametrize(("kind", "title", "text"), WALLS)
@pytest.mark.parametrize("around", [True, False])
def test_a_wall_is_refused_and_named(kind, title, text, around):
    with pytest.raises(NoArticle) as refusal:
        extract(page(title, text, around=around), url=URL)
    assert refusal.value.code == "FAIL_EMPTY"
    assert refusal.value.detail.split(":")[0] == kind


SHORT_NEWS = [
    ("Girl missing", "The girl was not found on Friday. Police said that the search would go on at first light."),
    (
        "Mädchen vermisst",
        "Das Mädchen wurde am Freitag nicht gefunden. Die Suche geht weiter. Ein Hubschrauber ist nicht verfügbar.",
    ),
    (
        "Пропала девочка",
        "Девочка не найдена. Поиски продолжаются, сообщили в полиции. Добровольцы прочесали лес к северу от города.",
    ),
    ("Desaparecida", "La niña no fue encontrada el viernes. La búsqueda sigue, dijo la policía."),
    ("404 people rescued", "Coast guards rescued 404 people from three boats on Friday. They were 503."),
    (
        "Plant shut for good",
        "The reactor will not go back to work. It was in maintenance for years, and repairs would cost too much.",
    ),
    (
        "Partners sign deal",
        "Our partners in the region have signed, said the minister. The bridge will cost nine million.",
    ),
    ("Sites must ask", "Sites must ask before they set cookies, the court ruled on Friday."),
    ("Un pont", "Il existe un pont que nul ne connaît. La page de son histoire est longue, dit le maire."),
    ("Robots at work", "Robots are to weed the fields. A robot costs as much as two tractors, says the maker."),
    (
        "Domain law",
        "Who sells a domain must tell who bought it, under a law passed on Friday. The register is to be open to all.",
    ),
    (
        "Password theft",
        "Thieves took passwords of forty thousand readers. Change your password now, says the office for security.",
    ),
    (
        "Union gains members",
        "The union has more members than ever. Only one in ten leaves within a year, it said. Fees stay as they are.",
    ),
    (
        "Mystery script",
        "Nobody has found out who wrote the note, the archive said on Friday. It is not signed and bears no date.",
    ),
]


@pytest.mark.parametrize(("title", "text"), SHORT_NEWS)
@pytest.mark.parametrize("head", ["", "<meta property=og:type content=article>"])
def test_short_news_that_sounds_like_a_wall_is_an_article(title, text, head):
    assert text in extract(page(title, text, head=head), url=URL).text


def test_an_article_of_some_length_may_report_of_a_wall():
    text = "The page you are looking for does not exist, said the screens of the ministry on Friday. " * 3
    declared = page("Ministry offline", text, head='<meta property="article:published_time" content="2026-11-27">')
    assert extract(declared, url=URL).text.startswith("The page you are")
    with pytest.raises(NoArticle, match="not_found"):
        extract(page("Ministry offline", text), url=URL)


def test_an_essay_on_consent_is_no_wall():
    essay = "\n".join(
        f"Sites ask in banner number {n} whether they may follow us, and few of us read what stands there. "
        "A reader needs four clicks to refuse and one to agree, a study of universities found last year."
        for n in range(8)
    )
    text = f"{essay}\nAccept all cookies, they say. We value your privacy, they say. Reject all is hard to find."
    assert essay in extract(page("Cookie banners", text), url=URL).text


def test_no_wall_is_sought_far_behind_the_beginning_of_a_text():
    read = read_page(page("Ships", "Ships."), URL)
    assert wall_kind(read, "The page was not found. " + "x" * 100_000) == "not_found"
    assert wall_kind(read, "x" * 100_000 + " The page was not found.") is None


def shop(title):
    items = "".join(
        f"<li><a href=/{n}>Ship number {n} of the fleet</a> access denied, page not found" for n in range(60)
    )
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><ul>{items}</ul></body></html>"


def test_a_listing_is_a_wall_only_by_its_headline():
    assert extract(shop("Ships"), url="https://d.example/category/ships").page_kind == "listing"
    with pytest.raises(NoArticle, match="not_found: 'Page not found"):
        extract(shop("Page not found"), url="https://d.example/category/ships")


FILES = "".join(f'<a href="file-{n}.html">file-{n}.html</a>      2026-03-{n:02} 10:10   {n}.1K\n' for n in range(1, 25))
ROWS = "".join(f"<tr><td><a href=f{n}.pdf>f{n}.pdf</a></td><td>2026-03-{n:02} 10:10</td></tr>" for n in range(1, 25))


def directory(title, listing, *, heading=None):
    shown = heading or f"<h1>{title}</h1>"
    return f"<html><head><title>{title}</title></head><body>{shown}<hr>{listing}<hr></body></html>"


@pytest.mark.parametrize(
    "html",
    [
        directory("Index of /archive", f"<pre><a href='?C=N;O=D'>Name</a> Last modified\n{FILES}</pre>"),
        directory("Index of /archive", f"<table><tr><th>Name</th><th>Last modified</th></tr>{ROWS}</table>"),
        directory("Index of /", f"<pre><a href=../>../</a>\n{FILES}</pre>"),
        directory("Index of /x/", f"<table>{ROWS}</table>", heading="<h2>Index of /x/</h2>"),
        directory("Directory listing for /archive/", "".join(f"<li><a href=f{n}>f{n}</a></li>" for n in range(40))),
        directory("Directory: /archive/", f"<table>{ROWS}</table>"),
        directory(
            "Directory Listing For [/archive/]",
            f"<table>{ROWS}</table>",
            heading="<h1>Directory Listing For [/archive/] - Up To [/]</h1>",
        ),
        directory("files.example - /archive/", f"<pre><a href=/>[To Parent Directory]</a><br>{FILES}</pre>"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", [URL, "https://files.example/archive/"])
def test_the_listing_of_a_directory_is_refused(html, url):
    with pytest.raises(NoArticle, match="FAIL_EMPTY: index: the listing of a directory"):
        extract(html, url=url)


PROSE = "\n".join(
    f"Pier number {n} was closed on Friday after a ship of the line had struck it, the harbour master said. "
    f"Repairs will take {n} weeks and cost the town more than it has, according to the council."
    for n in range(2, 9)
)


@pytest.mark.parametrize("title", ["Index of /archive", "Index of prices rises", "news.example - /harbour"])
def test_an_article_that_does_not_begin_with_its_title_is_no_directory(title):
    html = page(title, PROSE).replace(f"<h1>{title}</h1>", "<h1>Harbour closed</h1>")
    assert extract(html, url=URL).text.endswith("according to the council.")


FORM = "<form action=/login method=post><input name=user><input type=Password name=p><button>Go</button></form>"
ASKED = "Readers who have an account use the name that they chose when they opened it, and their secret word."


@pytest.mark.parametrize("title", ["Log in", "Login | The Example", "Example - Sign in", "Anmelden", "Se connecter"])
@pytest.mark.parametrize("times", [1, 40])
def test_a_login_page_is_known_by_its_title_and_its_field_for_a_password(title, times):
    with pytest.raises(NoArticle, match="FAIL_EMPTY: login: asks for a password"):
        extract(page(title, "\n".join([ASKED] * times)).replace("</main>", f"{FORM}</main>"), url=URL)
    text = extract(page(title, PROSE), url=URL).text
    assert text.endswith("according to the council.")


@pytest.mark.parametrize("title", ["Harbour closed", "Login - Accounts - The Manual", "Sign in with a ring"])
def test_an_article_beside_a_field_for_a_password_is_an_article(title):
    found = extract(page(title, PROSE).replace("</nav>", f"</nav>{FORM}"), url=URL)
    assert found.text.endswith("according to the council.")
