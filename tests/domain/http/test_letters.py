# ruff: noqa: RUF001 -- letters of other scripts
import pytest

from feedcrawl.domain.http.letters import ARABIC, LATIN, codec_by_letters, cyrillic


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("simulações de 2º turno não há", "cp1252"),
        ("El niño ¿qué?", "cp1252"),
        ("Größe für Fußgänger", "cp1252"),
        ("smörgåsbord på ön", "cp1252"),
        ("Þetta er íslenska, það er gott", "cp1252"),
        ("Zażółć gęślą jaźń", "cp1250"),
        ("Zażółć gęślą jaźń", "iso8859-2"),
        ("árvíztűrő tükörfúrógép", "cp1250"),
        ("ąčęėįšųūž", "cp1257"),
        ("güneşli bir gün, ağaçlar ılık", "cp1254"),
        ("plain", "cp1252"),
    ],
)
def test_latin_sets_are_distinguished_by_their_letters(text, codec):
    assert text.encode(codec).decode(codec_by_letters(text.encode(codec), LATIN)) == text


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Правительство утвердило план", "cp1251"),
        ("Правительство утвердило план", "mac-cyrillic"),
        ("Уряд затвердив план розвитку її доріг", "cp1251"),
        ("أعلن رئيس الوزراء اليوم عن خطة جديدة", "cp1256"),
        ("أعلن رئيس الوزراء اليوم عن خطة جديدة", "iso8859-6"),
    ],
)
def test_cyrillic_and_arabic_sets_are_distinguished_by_their_letters(text, codec):
    assert codec_by_letters(text.encode(codec), cyrillic("mac-cyrillic") + ARABIC) == codec


@pytest.mark.parametrize("alphabets", [LATIN, ARABIC, cyrillic("koi8-r")])
def test_the_commonest_set_is_used_where_no_letter_decides(alphabets):
    assert codec_by_letters(b"plain", alphabets) == alphabets[0][0]
    assert codec_by_letters(b"", alphabets) == alphabets[0][0]
