# ruff: noqa: RUF001 -- letters of other alphabets

import pytest

from feedcrawl.domain.extraction.fields.bylines import late_byline, plain_byline
from feedcrawl.domain.extraction.fields.signing_words import is_label, unglued
from feedcrawl.domain.extraction.page import read_page


def page(line):
    return read_page(
        f"<html><body><h1>A story</h1><p>{line}</p><p>{'text ' * 60}</p></body></html>", "https://d.example/"
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("By Ann Lee", "Ann Lee"),
        ("Von Ann Lee", "Ann Lee"),
        ("Gastbeitrag von Ann Lee", "Ann Lee"),
        ("Propos recueillis par Ann Lee", "Ann Lee"),
        ("Escrito por Ana López", "Ana López"),
        ("A cura di Anna Lei", "Anna Lei"),
        ("Geschreven door Ann de Lee", "Ann de Lee"),
        ("Skriven av Ann Lee", "Ann Lee"),
        ("Napisane przez Annę Li", "Annę Li"),
        ("Scris de Ana Li", "Ana Li"),
        ("Ditulis oleh Anisa Li", "Anisa Li"),
        ("Yazan: Ayşe Yılmaz", "Ayşe Yılmaz"),
        ("HABERİ YAPAN: İpek Yılmaz", "İpek Yılmaz"),
        ("Написано автором Анна Ли", "Анна Ли"),
        ("بقلم: محمد علي", "محمد علي"),
        ("홍길동 기자", "홍길동"),
        ("[서울=뉴시스] 홍길동 문화 기자 = 서울", "홍길동"),
    ],
)
def test_signatures_under_the_headline(line, name):
    assert plain_byline(page(line)) == [name]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Author: Ann Lee", "Ann Lee"),
        ("Autorin: Ann Lee", "Ann Lee"),
        ("Text: Ann Lee", "Ann Lee"),
        ("Autore: Anna Lei", "Anna Lei"),
        ("Автор: Анна Ли", "Анна Ли"),
        ("Szerző: Anna Li", "Anna Li"),
        ("作者：王小明", "王小明"),
        ("文＝山田花子", "山田花子"),
        ("Text: Harbours and their ships", None),
        ("By Ann Lee", None),
    ],
)
def test_signatures_anywhere(line, name):
    assert late_byline(page(line)) == ([name] if name else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("By", True), ("Written by", True), ("Verfasst von", True), ("Écrit par", True), ("作者", True), ("Von:", True),
     ("By Ann Lee", False), ("Est. reading time", False), ("", False)],
)  # fmt: skip
def test_labels(text, expected):
    assert is_label(text) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ByAnn Lee", "By Ann Lee"),
        ("ByJ.R. Lee", "By J.R. Lee"),
        ("Written byAnn LeePublished May 3", "Written by Ann Lee Published May 3"),
        ("VonAnna Li", "Von Anna Li"),
        ("ByAnn LeeNovember 20, 2025", "By Ann Lee November 20, 2025"),
        ("ByAnn MacLee", "By Ann MacLee"),
        ("By Ann Lee", "By Ann Lee"),
        ("Bystanders saw", "Bystanders saw"),
        ("BYTES AND WORDS", "BYTES AND WORDS"),
        ("İstanbul", "İstanbul"),
        ("", ""),
    ],
)
def test_elements_that_touch(line, expected):
    assert unglued(line) == expected
