import pytest

from feedcrawl.domain.extraction.fields.persons import (
    is_organization,
    is_person,
    is_publisher,
    is_user_name,
    split_names,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ann Lee", ["Ann Lee"]),
        ("By Ann Lee and Bo Ek", ["Ann Lee", "Bo Ek"]),
        ("Von Ann Lee, Bo Ek und Cy Dee", ["Ann Lee", "Bo Ek", "Cy Dee"]),
        ("Ann Lee (ale); Bo Ek [bek]", ["Ann Lee", "Bo Ek"]),
        ("Written by: Ann Lee", ["Ann Lee"]),
        ("https://social.example/ann", []),
        ("ann@example.org", []),
        ("@ann", []),
        ("admin", []),
        ("27 November 2026", []),
        ("Ann Lee, professor of the theory of very long titles", ["Ann Lee"]),
        ("Ann Lee, Political Editor, and Bo Ek, Reporter", ["Ann Lee", "Bo Ek"]),
        ("Staff Reporter", ["Staff Reporter"]),
        ("Login 50%", []),
        ("Foto: Ann Lee", []),
        ("Apr 24", []),
        ("Ann Lee | Comment now | Sign up", ["Ann Lee"]),
        ("Leave a comment", []),
        ("Von", []),
        ("Jun 2 Written By", []),
        ("Example Media GmbH", []),
        ("Super User", []),
        # What touches the name in the text.
        ("Ann Lee5 minute read", ["Ann Lee"]),
        ("AuthorAnn Lee", ["Ann Lee"]),
        ("Ann LeeAnn Lee", ["Ann Lee"]),
        ("annlee99", ["annlee99"]),
        ("<a href='/ann'>Ann Lee</a>", ["Ann Lee"]),
        ("Ann Lee | ann@daily.example", ["Ann Lee"]),
        # Offices, and what is to be clicked.
        ("Ann Lee and Bo", ["Ann Lee", "Bo"]),
        ("The Daily GmbH, Munich, Germany", []),
        ("Ann Lee, foodstylist", ["Ann Lee"]),
        ("Ann Lee Envoyée spéciale à Toulouse", ["Ann Lee"]),
        ("Jump to Instructions", []),
        ("Zum Newsletter", []),
        ("auf Twitter folgen", []),
        ("Anonymous User", []),
        ("{{ review.sender }}", []),
        ("am", []),
        ("wordpressadmin", []),
        ("Byby Ann Lee", ["Ann Lee"]),
        ("Ann Lee, Associated Press", ["Ann Lee"]),
        ("Von Ann Lee und Bo Ek, dpa", ["Ann Lee", "Bo Ek"]),
        ("Ann Lee/AFP", ["Ann Lee"]),
        ("Ann Lee (AP)", ["Ann Lee"]),
        ("dpa", ["dpa"]),
        ("Reuters", ["Reuters"]),
        ("Ann Lee, PhD", ["Ann Lee"]),
        ("Ann Lee, MS, RD", ["Ann Lee"]),
        ("Ann Lee, MS, RD, FAND; Bo Ek, DACVB", ["Ann Lee", "Bo Ek"]),
        ("NASA, ESA", ["NASA", "ESA"]),
        ("Port Admin", []),
        ("YouTube", []),
        ("Rechtsanwalt Bo Ek", ["Bo Ek"]),
        ("content: Ann Lee", []),
        ("Ann Lee For The Sunday Daily", ["Ann Lee"]),
        ("Ann Lee and Bo Ek for daily.example.com", ["Ann Lee", "Bo Ek"]),
        ("Centre for The Study of Ports", ["Centre for The Study of Ports"]),
        ("annlee am 26/10/13", ["annlee"]),
        ("Autor/in: Ann Lee", ["Ann Lee"]),
        ("Artikel von: - Ann Lee", ["Ann Lee"]),
        ("Alle Beiträge", []),
        ("Share Post", []),
        ("Paid Content", []),
        ("Agencies", []),
        ("Licensed Grader", []),
        ("webmaster", []),
        ("undefined", []),
        ("page.head.extra.author", []),
        ("More about me", []),
        ("Full Bio", []),
        ("Authors: Ann Lee and Bo Ek, Extension educators", ["Ann Lee", "Bo Ek"]),
        ("Ann Lee, Founder at Example", ["Ann Lee"]),
        ("srf/hosb", ["srf/hosb"]),
        ("신현주 기자", ["신현주"]),
        ("x" * 100, []),
        ("", []),
    ],
)
def test_split_names(text, names):
    assert list(split_names(text)) == names


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Ann Lee", True),
        ("ANN LEE", True),
        ("María R. Sahuquillo", True),
        ("Guido van der Berg", True),
        ("Conan O\u2019Brien", True),
        ("신현주", True),
        ("Ann Lee0", False),
        ("Ann", False),
        ("The Daily", False),
        ("dpa", False),
        ("Ann lee", False),
        ("Ann Lee Writes Of Many Ports", False),
        ("Montag, den 1. Mai", False),
        ("短缺药品保供稳价 全力保障用药", False),  # a headline
        ("山田 太郎", True),
        ("", False),
    ],
)
def test_is_person(name, person):
    assert is_person(name) is person


@pytest.mark.parametrize(
    ("name", "publisher"),
    [
        ("The Daily", True),
        ("the-daily", True),
        ("The Daily News", False),
        ("Daily", False),
        ("The", False),
        ("", False),
    ],
)
def test_is_publisher(name, publisher):
    assert is_publisher(name, {"thedaily", "thedailyexample"}) is publisher


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("mdelatorre", True),
        ("brandon-peaktwo", True),
        ("ann_lee", True),
        ("Ann42", True),
        ("example.org", True),
        ("Ann", False),
        ("Ann Lee", False),
        ("AFP", False),
        ("Ann L.", False),
        ("", False),
    ],
)
def test_is_user_name(name, user):
    assert is_user_name(name) is user


@pytest.mark.parametrize(
    ("name", "organization"),
    [
        ("The Daily Editorial Team", True),
        ("Team Daily", True),
        ("Example University", True),
        ("example.org", True),
        ("Harbour Example Media", True),
        ("Tidal Consulting", True),
        ("Ann Lee", False),
        ("Ann Teamer", False),
    ],
)
def test_is_organization(name, organization):
    assert is_organization(name) is organization
