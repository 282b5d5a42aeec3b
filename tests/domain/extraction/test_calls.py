import pytest

from feedcrawl.domain.extraction.calls import is_call, is_notice


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Read more: what the harbour master said", True),
        ("Czytaj też: Co powiedział kapitan portu", True),
        ("Le puede interesar: Lo que dijo el capitán", True),
        ("Lue myös:", True),
        ("→ Lees ook: wat de havenmeester zei", True),
        ("Читайте также: что сказал капитан", True),
        ("यह भी पढ़ें: बंदरगाह", True),
        ("اقرأ أيضا: الميناء", True),
        ("延伸阅读 港口", True),
        ("Baca juga: pelabuhan", True),
        ("Relatedly, the harbour master said nothing", False),
        ("Leer is not a verb in this language", False),
        ("Readers more than others know the harbour", False),
        ("Related: the fog horn", True),
        ("Related to this, the town will buy a second horn", False),
        ("For more stories, see the archive", True),
        ("For more on the horn, read the book of Ann Lee", False),
        ("Our standards: the principles of The Herald", True),
        ("Our standards are high, the harbour master said", False),
        ("Auch interessant: Glocken", True),
        ("Auch interessant ist, dass das Horn kaum zu hören ist", False),
        ("Do you want to hear of horns? Sign up here", True),
        ("Download the Herald apps for iOS and Android", True),
        ("Folgen Sie uns auf Mastodon", True),
        ("Suivez-nous sur WhatsApp", True),
        ("¿Ya tenemos canal de Telegram? Únete", True),
        ("Already a subscriber? Log in here.", True),
        ("The workers who sign up there get a pension", False),
        ("The ships follow the coast on their way", False),
    ],
)
def test_lines_that_lead_to_other_articles(line, expected):
    assert is_call(line, line.lower()) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Advertisement", True),
        ("- Anzeige -", True),
        ("ADVERTISEMENT", True),
        ("Реклама:", True),
        ("広告", True),
        ("Read More →", True),
        ("↑ Back to top", True),
        ("We may be compensated when you click on a link.", True),
        ("Patients may be compensated when a court says so.", False),
        ("Um Deine persönlichen Daten zu schützen, haben wir das Laden der Inhalte blockiert.", True),
        ("Wir stellen ohne dein Einverständnis keine Verbindung zu Twitter her.", True),
        ("To view this content you must accept cookies.", True),
        ("Pour afficher cette vidéo, acceptez les cookies.", True),
        ("Please enable JavaScript to see this page.", True),
        ("Warning: Creating default object from empty value in /www/wp/classes.php on line 407", True),
        ("Letzte Aktualisierung am 2.02.2022 / Es handelt sich um Affiliate Links / Bilder", True),
        ("JavaScript is the language of the web.", False),
        ("A warning: the line 407 bus is late", False),
        ("An advertisement", False),
        ("Advertising", False),
        ("Anzeige wegen Diebstahls", False),
    ],
)
def test_lines_that_label_advertisements_and_controls(line, expected):
    assert is_notice(line, line.lower()) is expected
