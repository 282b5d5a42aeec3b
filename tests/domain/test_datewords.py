# ruff: noqa: RUF001 -- words of other scripts
import pytest

from feedcrawl.domain.datewords import DAY_HALVES, FILLERS, MONTHS, WEEKDAYS, ZONES, fold, usual_form


@pytest.mark.parametrize(
    ("word", "month"),
    [
        ("January", 1),
        ("sept.", 9),
        ("MAR", 3),
        ("märz", 3),
        ("Jän", 1),
        ("févr.", 2),
        ("août", 8),
        ("ene", 1),
        ("dic", 12),
        ("июля", 7),
        ("мая", 5),
        ("Ιουν", 6),
        ("červenec", 7),
        ("červen", 6),
        ("stycznia", 1),
        ("marraskuu", 11),
        ("ağustos", 8),
    ],
)
def test_months(word, month):
    assert MONTHS[fold(word)] == month


@pytest.mark.parametrize("word", ["jui", "ma", "zzz", "monday", ""])
def test_an_ambiguous_or_unknown_word_is_no_month(word):
    assert fold(word) not in MONTHS


@pytest.mark.parametrize("word", ["Mon", "tues", "Donnerstag", "lun.", "mié", "ср", "Κυρ", "sobota"])
def test_weekdays(word):
    assert fold(word) in WEEKDAYS


def test_no_word_has_two_meanings():
    tables = [set(MONTHS), set(WEEKDAYS), set(ZONES), set(DAY_HALVES), set(FILLERS)]
    shared = {word for index, table in enumerate(tables) for other in tables[index + 1 :] for word in table & other}
    assert shared == {"at", "wat", "sat", "so"} & shared


@pytest.mark.parametrize(("name", "minutes"), [("gmt", 0), ("est", -300), ("ist", 330), ("nst", -210), ("cest", 120)])
def test_zones_in_minutes_east(name, minutes):
    assert ZONES[name] == minutes


def test_folding():
    assert fold("Févr.") == fold("FEVR") == "fevr"
    assert fold("오후") in DAY_HALVES


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("2026-07-06T10:30:00-04:00[America/New_York]", "2026-07-06T10:30:00-04:00"),
        ("2026-07-06T14:30:00Z[UTC]", "2026-07-06T14:30:00Z"),
        ("2026-07-06T10:30:00+02:00[Europe/Berlin][u-ca=gregory]", "2026-07-06T10:30:00+02:00"),
        ("2026-07-06T10:30:00[America/New_York]", "2026-07-06T10:30:00 America/New_York"),
        ("2026-07-06 10.30.00", "2026-07-06 10:30:00"),
        ("2026-07-06T10.30.00Z", "2026-07-06T10:30:00Z"),
        ("06.07.2026 10.30", "06.07.2026 10:30"),
        ("July 6, 2026 10.30 PM", "July 6, 2026 10:30 PM"),
        ("6 July 2026 at 10.30", "6 July 2026 at 10:30"),
        ("Mon, 06 Jul 2026 10.30.00 +0200", "Mon, 06 Jul 2026 10:30:00 +0200"),
        ("/Date(1783333800000)/", "1783333800000"),
        ("\\/Date(1783333800000+0200)\\/", "1783333800000"),
        # As they are
        ("06.07.2026", "06.07.2026"),
        ("6.7.26", "6.7.26"),
        ("10.30.00", "10.30.00"),
        ("2026-07-06T10:30:00.123Z", "2026-07-06T10:30:00.123Z"),
        ("2026.07.06 10:30", "2026.07.06 10:30"),
        ("[America/New_York]", "[America/New_York]"),
    ],
)
def test_unusual_forms(text: str, usual: str) -> None:
    assert usual_form(text) == usual
